"""What executors have in common whose engine is given lists of calls."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from threading import Thread
from typing import Any

from cubed.runtime import worker
from cubed.runtime.executors.base import Answer, Engine, token_of


class ListEngine(Engine):
    """Ranges that are ready go as one list: `poll` starts them."""

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        self._ready: list[bytes] = []

    def submit_one(self, message: bytes) -> Any:
        """Calls go in lists alone."""
        raise NotImplementedError

    def submit(self, range_: bytes) -> None:
        """Keeps a range for the next list."""
        self._ready.append(range_)

    def give_up(self, token: int) -> None:
        """Nothing is heard of a range any more, or it was not started at all."""
        self._ready = [range_ for range_ in self._ready if token_of(range_) != token]
        super().give_up(token)

    def abandon(self, future: Any) -> None:
        """It goes on, and nobody looks."""

    def cancel(self, futures: list[Any]) -> None:
        """No more are started; calls that run go on to the end of their range."""
        self._ready.clear()


class StageEngine(ListEngine):
    """An engine that gives the results of a list together: each is waited for in a thread.

    What a call raises comes back as a value, so the engine has nothing to try again but calls whose
    worker is lost.
    """

    #: Lists at a time. With one, what becomes ready waits until the list that runs has ended.
    at_a_time = 8

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        #: Threads that wait for lists, and what each gives.
        self._lists: dict[Thread, list[Future[bytes]]] = {}

    @abstractmethod
    def run_stage(
        self, call: Callable[[bytes], bytes], messages: list[bytes]
    ) -> Sequence[bytes | BaseException]:
        """What ``call(message)`` returns for each, in order; waits. `call` can be pickled.

        Exceptions in the list are those of calls that gave nothing; one that is raised is what
        became of all of them.
        """

    def poll(self, seconds: float) -> Answer | None:
        """Starts what is ready, and waits for what has ended."""
        # None of a list whose calls were all given up is waited for.
        self._lists = {
            thread: futures
            for thread, futures in self._lists.items()
            if thread.is_alive() and any(f in self._flying for f in futures)
        }
        most = -(-self.in_flight * self._wanted // self.at_a_time)
        # Calls of a list end together: what follows from all of them is the next one, and not a
        # list of what follows from the first.
        while self._ready and self._done.empty() and len(self._lists) < self.at_a_time:
            ranges, self._ready = self._ready[:most], self._ready[most:]
            futures = [Future[bytes]() for _ in ranges]
            for future, range_ in zip(futures, ranges, strict=True):
                future.set_running_or_notify_cancel()
                self._flying[future] = range_
                future.add_done_callback(self._done.put)
            messages = [self.message(range_) for range_ in ranges]
            # A process can end without those that wait for an engine which says nothing.
            thread = Thread(target=self._run, args=(messages, futures), daemon=True)
            thread.start()
            self._lists[thread] = futures
        return super().poll(seconds)

    def _run(self, messages: list[bytes], futures: list[Future[bytes]]) -> None:
        try:
            replies = self.run_stage(partial(worker.attempt, function=self.work), messages)
        except BaseException as e:
            replies = [e] * len(futures)
        for future, reply in zip(futures, replies, strict=True):
            try:
                if isinstance(reply, BaseException):
                    raise reply
                future.set_result(worker.outcome(reply))
            except BaseException as e:
                future.set_exception(e)
