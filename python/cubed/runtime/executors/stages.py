"""What executors have in common whose engine is given lists of calls."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any

from cubed.runtime import worker
from cubed.runtime.executors.base import Answer, Engine, token_of


def settle(future: Future[bytes], reply: bytes | BaseException) -> None:
    """A call of :func:`worker.attempt` has ended: with that, or with what the engine says."""
    try:
        if isinstance(reply, BaseException):
            raise reply
        future.set_result(worker.outcome(reply))
    except BaseException as e:
        future.set_exception(e)


class ListEngine(Engine):
    """Ranges that are ready go in lists: `poll` starts them."""

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        self._ready: list[bytes] = []

    def submit_one(self, message: bytes) -> Any:
        """Calls go in lists alone."""
        raise NotImplementedError

    @abstractmethod
    def submit_list(self, messages: list[bytes]) -> Sequence[Any]:
        """Starts ``self.work(message)`` for each; does not wait. Their futures, in order."""

    def room(self) -> int:
        """Calls that a list may have that begins now; 0: none is to begin."""
        return len(self._ready)

    def submit(self, range_: bytes) -> None:
        """Keeps a range for the next list."""
        self._ready.append(range_)

    def poll(self, seconds: float) -> Answer | None:
        """Starts what is ready, and waits for what has ended."""
        while self._ready and (n := self.room()) > 0:
            ranges, self._ready = self._ready[:n], self._ready[n:]
            futures = self.submit_list([self.message(range_) for range_ in ranges])
            self._flying.update(zip(futures, ranges, strict=True))
        return super().poll(seconds)

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
        #: Lists that are waited for, and the futures of their calls.
        self._lists: dict[Future[None], list[Future[bytes]]] = {}

    @abstractmethod
    def run_stage(
        self, call: Callable[[bytes], bytes], messages: list[bytes]
    ) -> Sequence[bytes | BaseException]:
        """What ``call(message)`` returns for each, in order; waits. `call` can be pickled.

        Exceptions in the list are those of calls that gave nothing; one that is raised is what
        became of all of them.
        """

    def room(self) -> int:
        """Those that are in flight are as many lists as there may be."""
        # None of a list whose calls were all given up is waited for.
        self._lists = {
            ended: futures
            for ended, futures in self._lists.items()
            if not ended.done() and any(f in self._flying for f in futures)
        }
        # Calls of a list end together: what follows from all of them is the next one, and not a
        # list of what follows from the first.
        if len(self._lists) >= self.at_a_time or not self._done.empty():
            return 0
        return -(-self.in_flight * self._wanted // self.at_a_time)

    def submit_list(self, messages: list[bytes]) -> list[Future[bytes]]:
        """Starts a thread that waits for the list."""
        futures = [Future[bytes]() for _ in messages]
        for future in futures:
            future.set_running_or_notify_cancel()
            future.add_done_callback(self._done.put)
        # A process can end without those that wait for an engine which says nothing.
        self._lists[worker.in_thread(self._run, messages, futures)] = futures
        return futures

    def _run(self, messages: list[bytes], futures: list[Future[bytes]]) -> None:
        try:
            replies = self.run_stage(partial(worker.attempt, function=self.work), messages)
        except BaseException as e:
            replies = [e] * len(futures)
        for future, reply in zip(futures, replies, strict=True):
            settle(future, reply)
