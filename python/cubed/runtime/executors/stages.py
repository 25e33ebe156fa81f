"""Shared parts of executors whose engine starts lists of calls."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any

from cubed.runtime import worker
from cubed.runtime.executors.base import Answer, Engine, token_of


def settle(future: Future[bytes], reply: bytes | BaseException) -> None:
    """Sets the result of a future to the reply of :func:`worker.attempt`, or the exception of the
    future to the exception of the engine."""
    try:
        if isinstance(reply, BaseException):
            raise reply
        future.set_result(worker.outcome(reply))
    except BaseException as e:
        future.set_exception(e)


class ListEngine(Engine):
    """Submits ready ranges in lists: `poll` starts them."""

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        self._ready: list[bytes] = []

    def submit_one(self, message: bytes) -> Any:
        """Not supported, because calls are only submitted in lists."""
        raise NotImplementedError

    @abstractmethod
    def submit_list(self, messages: list[bytes]) -> Sequence[Any]:
        """Starts ``self.work(message)`` for each message without waiting. Returns the futures in
        order.
        """

    def room(self) -> int:
        """Returns the maximum number of calls in a list that starts now; 0: start none."""
        return len(self._ready)

    def submit(self, range_: bytes) -> None:
        """Stores a range until the next list is submitted."""
        self._ready.append(range_)

    def poll(self, seconds: float) -> Answer | None:
        """Starts ready ranges, and waits for completed ones."""
        while self._ready and (n := self.room()) > 0:
            ranges, self._ready = self._ready[:n], self._ready[n:]
            futures = self.submit_list([self.message(range_) for range_ in ranges])
            self._flying.update(zip(futures, ranges, strict=True))
        return super().poll(seconds)

    def give_up(self, token: int) -> None:
        """Abandons a range that has given no reply, or that was not started."""
        self._ready = [range_ for range_ in self._ready if token_of(range_) != token]
        super().give_up(token)

    def abandon(self, future: Any) -> None:
        """Ignores the result of the call, which runs to its end."""

    def cancel(self, futures: list[Any]) -> None:
        """Prevents further calls from starting. Running calls continue to the end of their
        range."""
        self._ready.clear()


class StageEngine(ListEngine):
    """An engine that returns the results of a list together: a thread waits for each list.

    Exceptions of calls are returned as values, so the engine retries only calls whose worker is
    lost.
    """

    #: Concurrent lists. With one, ready ranges wait until the running list has ended.
    at_a_time = 8

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        #: Lists that threads wait for, and the futures of their calls.
        self._lists: dict[Future[None], list[Future[bytes]]] = {}

    @abstractmethod
    def run_stage(
        self, call: Callable[[bytes], bytes], messages: list[bytes]
    ) -> Sequence[bytes | BaseException]:
        """Waits for ``call(message)`` of each message, and returns the results in order.
        `call` can be pickled.

        Exceptions in the list belong to calls without a result; a raised exception is the result of
        all calls.
        """

    def room(self) -> int:
        """Returns the number of calls for the next list, so that concurrent lists have equal shares
        of the calls in flight."""
        # The run does not wait for lists whose calls were all abandoned.
        self._lists = {
            ended: futures
            for ended, futures in self._lists.items()
            if not ended.done() and any(f in self._flying for f in futures)
        }
        # The calls of a list end together. Wait until all of their results are processed, so that
        # the next list has all ranges that they make ready.
        if len(self._lists) >= self.at_a_time or not self._done.empty():
            return 0
        return -(-self.in_flight * self._wanted // self.at_a_time)

    def submit_list(self, messages: list[bytes]) -> list[Future[bytes]]:
        """Starts a thread that waits for the list."""
        futures = [Future[bytes]() for _ in messages]
        for future in futures:
            future.set_running_or_notify_cancel()
            future.add_done_callback(self._done.put)
        # A daemon thread, so that the process can end while a thread waits for an engine that does
        # not reply.
        self._lists[worker.in_thread(self._run, messages, futures)] = futures
        return futures

    def _run(self, messages: list[bytes], futures: list[Future[bytes]]) -> None:
        try:
            replies = self.run_stage(partial(worker.attempt, function=self.work), messages)
        except BaseException as e:
            replies = [e] * len(futures)
        for future, reply in zip(futures, replies, strict=True):
            settle(future, reply)
