"""Initialisation of pool processes; a separate module with few imports, because multiprocessing
imports it in each process."""

import multiprocessing
import os
import signal
import threading


def begin_process() -> None:
    """Initialises a process of a pool: it ignores Ctrl-C, which the driver handles, and ends with
    the driver.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow_driver, daemon=True).start()


def _follow_driver() -> None:
    driver = multiprocessing.parent_process()
    if driver is not None:
        driver.join()
        os._exit(1)
