"""What processes of pools begin with; apart, as multiprocessing brings much in."""

import multiprocessing
import os
import signal
import threading


def begin_process() -> None:
    """What a process of a pool does first: Ctrl-C is the driver's; who has none any more ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow_driver, daemon=True).start()


def _follow_driver() -> None:
    driver = multiprocessing.parent_process()
    if driver is not None:
        driver.join()
        os._exit(1)
