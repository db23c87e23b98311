"""`torch.multiprocessing`: Python's own, and `spawn`. Tensors are copied into other processes."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
from collections.abc import Callable
from multiprocessing import *  # noqa: F403  # its public names, as in PyTorch
from typing import Any

from ._missing import explain as _explain_missing

_STRATEGIES = {"file_descriptor", "file_system"}


def get_all_sharing_strategies() -> set[str]:
    """PyTorch's ways to share memory, by name."""
    return set(_STRATEGIES)


def get_sharing_strategy() -> str:
    """The first of them: memory is not shared here."""
    return "file_descriptor"


def set_sharing_strategy(new_strategy: str) -> None:
    """Nothing: memory is not shared here.

    Raises: AssertionError: there is no such way.
    """
    assert new_strategy in _STRATEGIES, f"unknown sharing strategy {new_strategy!r}"


class ProcessRaisedException(Exception):
    """A process that `spawn` started has failed; which one, and how it ended."""

    def __init__(self, msg: str, error_index: int, error_pid: int) -> None:
        super().__init__(msg)
        self.msg, self.error_index, self.pid = msg, error_index, error_pid


class SpawnContext:
    """The processes that `spawn` started."""

    def __init__(self, processes: list[Any]) -> None:
        self.processes = processes

    def pids(self) -> list[int]:
        return [p.pid for p in self.processes]

    def join(self, timeout: float | None = None) -> bool:
        """Wait for the processes; whether all of them have ended.

        Raises: ProcessRaisedException: one has failed; the others are stopped.
        """
        left = {p.sentinel: p for p in self.processes if p.exitcode is None}
        if left:  # for nothing one would wait for ever
            for sentinel in multiprocessing.connection.wait(list(left), timeout):
                left.pop(sentinel).join()
        for i, p in enumerate(self.processes):
            if p.exitcode:
                for other in left.values():
                    other.terminate()
                raise ProcessRaisedException(
                    f"Process {i} ended with exit code {p.exitcode}; its traceback is above",
                    i,
                    p.pid,
                )
        return not left


def spawn(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> SpawnContext | None:
    """Run ``fn(i, *args)`` in `nprocs` processes, i = 0, 1 …; wait for them, or return them.

    Raises: ProcessRaisedException: one of them has failed.
    """
    method: Any = multiprocessing.get_context(start_method)
    processes = [method.Process(target=fn, args=(i, *args), daemon=daemon) for i in range(nprocs)]
    for p in processes:
        p.start()
    context = SpawnContext(processes)
    if not join:
        return context
    while not context.join():
        pass
    return None


_explain_missing("torch.multiprocessing", globals())
