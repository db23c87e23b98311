"""`torch.futures`: values that another thread will set."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from .autograd import sites

T = TypeVar("T")


class Future(Generic[T]):
    """A value, or an exception, that is set once, by whichever thread has it.

    >>> future = Future()
    >>> doubled = future.then(lambda f: 2 * f.value())
    >>> future.set_result(3)
    >>> future.done(), doubled.wait()
    (True, 6)
    """

    def __init__(self, *, devices: Any = None) -> None:
        self._future: concurrent.futures.Future[T] = concurrent.futures.Future()

    def done(self) -> bool:
        """Whether it is set."""
        return self._future.done()

    def wait(self) -> T:
        """The value, as soon as it is set; the exception is raised."""
        return self._future.result()

    def value(self) -> T:
        """The value, which must be set; the exception is raised.

        Raises: RuntimeError: it is not.
        """
        if not self.done():
            raise RuntimeError("value() is called on a Future that is not done: use wait()")
        return self.wait()

    def set_result(self, result: T) -> None:
        """Set the value.

        Raises: RuntimeError: it is set already.
        """
        self._set(self._future.set_result, result)

    def set_exception(self, result: Exception) -> None:
        """Set an exception that `wait` and `value` raise.

        Raises: AssertionError: it is none. RuntimeError: something is set already.
        """
        if not isinstance(result, Exception):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._set(self._future.set_exception, result)

    def _set(self, how: Callable[[Any], None], what: Any) -> None:
        try:
            how(what)
        except concurrent.futures.InvalidStateError:
            raise RuntimeError(
                "Attempting to mark a completed Future as complete again. Note that a Future can "
                "only be marked completed once."
            ) from None

    def add_done_callback(self, callback: Callable[[Future[T]], Any]) -> None:
        """Call ``callback(self)`` when it is set, or now if it is; what that raises is a warning."""

        def called(_: Any) -> None:
            try:
                callback(self)
            except Exception as e:
                sites.warn(f"a callback of a Future raised {type(e).__name__}: {e}")

        self._future.add_done_callback(called)

    def then(self, callback: Callable[[Future[T]], Any]) -> Future[Any]:
        """The future of ``callback(self)``, which is called when it is set, or now if it is."""
        following: Future[Any] = Future()

        def called(_: Any) -> None:
            try:
                result = callback(self)
            except Exception as e:
                following.set_exception(e)
            else:
                following.set_result(result)

        self._future.add_done_callback(called)
        return following


def collect_all(futures: list[Future[Any]]) -> Future[list[Future[Any]]]:
    """A future of the list, which is set when all are.

    >>> futures = [Future(), Future()]
    >>> all_of_them = collect_all(futures)
    >>> futures[0].set_result(1), all_of_them.done()
    (None, False)
    >>> futures[1].set_result(2), [f.value() for f in all_of_them.wait()]
    (None, [1, 2])
    """
    together: Future[list[Future[Any]]] = Future()
    waiting = {id(f): f for f in futures}

    def one_less(done: Future[Any]) -> None:
        if waiting.pop(id(done), None) is not None and not waiting:
            together.set_result(futures)

    if not futures:
        together.set_result(futures)
    for future in futures:
        future.add_done_callback(one_less)
    return together


def wait_all(futures: list[Future[Any]]) -> list[Any]:
    """The values, as soon as all are set; the first exception is raised."""
    return [future.wait() for future in collect_all(futures).wait()]


__all__ = ["Future", "collect_all", "wait_all"]
