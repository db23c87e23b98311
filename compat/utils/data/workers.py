"""What fetches batches: in this process, or in worker processes that `ParallelIterator` feeds.

Each worker has two pipes of its own, one for tasks and one for replies, so that no lock is shared
and a worker that dies is noticed at once. A task is ``(epoch, number, index, seed)``, a reply
``(epoch, number, kind, value)``. A thread of the worker sends the replies: the worker always comes
back to its tasks, so that sending one never waits for somebody who reads replies.
"""

from __future__ import annotations

import itertools
import pickle
import queue
import random
import threading
import traceback
import weakref
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ...autograd import sites
from ...ops.generator import manual_seed
from ...ops.random import randint
from .datasets import several

BATCH, END, ERROR = "batch", "end", "error"
_PATIENCE = 5.0  # seconds that a worker has to stop


class WorkerInfo(NamedTuple):
    """Which worker this process is."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


_here: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """In a worker its `id`, `num_workers`, `seed` and `dataset`; None in the main process."""
    return _here


class Fetcher:
    """From an index, or the list of a batch, to collated data.

    An iterable data set counts the index only by its length, and raises StopIteration at its end.
    """

    def __init__(
        self, dataset: Any, iterable: bool, batched: bool, collate: Any, drop_last: bool
    ) -> None:
        self.dataset, self.batched, self.collate = dataset, batched, collate
        self.drop_last = drop_last
        self.examples = iter(dataset) if iterable else None
        self.ended = False

    def __call__(self, index: Any) -> Any:
        if self.examples is None:
            return self.collate(
                several(self.dataset, index) if self.batched else self.dataset[index]
            )
        if not self.batched:
            return self.collate(next(self.examples))
        if self.ended:
            raise StopIteration
        batch = list(itertools.islice(self.examples, len(index)))
        self.ended = len(batch) < len(index)
        if not batch or (self.ended and self.drop_last):
            raise StopIteration
        return self.collate(batch)


# ---------------------------------------------------------------- in a worker


class Failure(NamedTuple):
    """An exception as it travels between processes."""

    type: type[BaseException]
    text: str
    where: str

    def reraise(self) -> None:
        """Raise an exception of the same type, if it is made from a message, else RuntimeError."""
        said = _Verbatim(
            f"Caught {self.type.__name__} in {self.where}.\nOriginal Traceback (most recent call "
            f"last, in the other process):\n{self.text}"
        )
        try:
            error = self.type(said)
        except Exception:
            error = RuntimeError(said)
        raise error


class _Verbatim(str):
    """A text that KeyError shows as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _failure(error: BaseException, number: int) -> Failure:
    kind = type(error)
    try:
        pickle.dumps(kind)
    except Exception:  # a class made inside a function
        kind = RuntimeError
    return Failure(kind, traceback.format_exc(), f"DataLoader worker process {number}")


def _send_all(replies: queue.SimpleQueue[bytes], connection: Any) -> None:
    try:
        while True:
            connection.send_bytes(replies.get())
    except OSError:  # nobody reads any more
        pass


class Work(NamedTuple):
    """All that a worker is told when it starts."""

    fetcher: tuple[Any, ...]  # the arguments of `Fetcher`
    number: int
    workers: int
    init: Any


def worker(work: Work, tasks: Any, connection: Any) -> None:
    """The life of a worker: answer every task until there is none, or nobody to ask."""
    global _here
    replies: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_send_all, args=(replies, connection), daemon=True).start()
    epoch, fetch, failed = None, None, None
    initialised = False
    while True:
        try:
            task = tasks.recv()
        except (EOFError, OSError, KeyboardInterrupt):
            return
        if task is None:
            return
        now, number, index, seed = task
        try:
            if now != epoch:
                epoch, failed, fetch = now, None, None
                if not initialised:
                    _here = WorkerInfo(work.number, work.workers, seed, work.fetcher[0])
                    _seed(seed)
                    if work.init is not None:
                        work.init(work.number)
                    initialised = True
                fetch = Fetcher(*work.fetcher)
            if failed is not None or fetch is None:
                reply = pickle.dumps((now, number, ERROR, failed), 5)
            else:
                reply = pickle.dumps((now, number, BATCH, fetch(index)), 5)
        except StopIteration:
            reply = pickle.dumps((now, number, END, None))
        except Exception as e:
            failure = _failure(e, work.number)
            if fetch is None:
                failed = failure
            reply = pickle.dumps((now, number, ERROR, failure))
        replies.put(reply)


def _seed(seed: int) -> None:
    random.seed(seed)
    manual_seed(seed)
    np.random.seed(seed % 2**32)


# ---------------------------------------------------------------- in the main process


class _Worker(NamedTuple):
    process: Any
    tasks: Any
    replies: Any


def _started(context: Any, work: Work) -> _Worker:
    ours_in, theirs_out = context.Pipe(duplex=False)
    theirs_in, ours_out = context.Pipe(duplex=False)
    process = context.Process(target=worker, args=(work, theirs_in, theirs_out), daemon=True)
    process.start()
    # Else the pipes would not end with the worker, and later workers would inherit these ends.
    theirs_in.close()
    theirs_out.close()
    return _Worker(process, ours_out, ours_in)


def _stop(workers: list[_Worker], stuck: list[bool]) -> None:
    """Let workers end; those that do not, or may not listen, are ended."""
    for w in workers:
        try:
            if stuck:
                w.process.terminate()
            else:
                w.tasks.send(None)
        except OSError:  # it is gone
            pass
        w.replies.close()
    for w in workers:
        w.process.join(_PATIENCE)
        if w.process.is_alive():
            w.process.kill()
            w.process.join()
        w.tasks.close()


class Batches:
    """One pass over a loader: the indices of its sampler, and how many batches there have been."""

    _hint = ""

    def _begin(self, loader: Any) -> None:
        self._sampler = loader._index_sampler
        self._indices: Iterator[Any] = iter(self._sampler)
        self._dataset, self._said = loader.dataset, loader._said
        self._fetched = 0

    def __iter__(self) -> Any:
        return self

    def __len__(self) -> int:
        return len(self._sampler)

    def _counted(self, batch: Any) -> Any:
        self._fetched += 1
        if self._said is not None and self._fetched > self._said:
            sites.warn(
                f"Length of IterableDataset {self._dataset} was reported to be {self._said} (when "
                f"accessing len(dataloader)), but {self._fetched} samples have been fetched. "
                f"{self._hint}"
            )
        return batch


class ParallelIterator(Batches):
    """The batches of one pass over a loader with workers, in the order of its sampler."""

    _hint = (
        "For multiprocessing data-loading, this could be caused by not properly configuring the "
        "IterableDataset replica at each worker."
    )

    def __init__(self, loader: Any) -> None:
        context = loader.multiprocessing_context
        if context is None:
            import multiprocessing as context
        n = loader.num_workers
        self._workers: list[_Worker] = []
        self._stuck: list[bool] = []  # shared with what ends the workers: not empty if one hangs
        self._close = weakref.finalize(self, _stop, self._workers, self._stuck)
        fetcher = loader._fetcher_arguments()
        for i in range(n):
            self._workers.append(_started(context, Work(fetcher, i, n, loader.worker_init_fn)))
        self._epoch = 0
        self.reset(loader)

    def reset(self, loader: Any) -> None:
        """Start a pass; what is on its way from an earlier one will be thrown away."""
        self._timeout, self._in_order = loader.timeout or None, loader.in_order
        self._keep = loader.persistent_workers
        self._epoch += 1
        self._begin(loader)
        self._seed = int(randint(2**62, (), generator=loader.generator))
        self._active = list(range(len(self._workers)))  # whose data set has not ended
        self._sent = self._next = 0
        self._asked: dict[int, int] = {}  # by number of task: which worker has it
        self._ready: dict[int, tuple[str, Any]] = {}
        for _ in range(max(1, loader.prefetch_factor) * len(self._workers)):
            self._ask()

    def __next__(self) -> Any:
        while self._asked or self._ready:
            number = self._next if self._in_order else next(iter(self._ready), None)
            if number not in self._ready:
                self._receive()
                continue
            kind, value = self._ready.pop(number)
            self._next += 1
            self._ask()
            if kind == ERROR:
                value.reraise()
            if kind == BATCH:
                return self._counted(value)
        if not self._keep:
            self._close()
        raise StopIteration

    @property
    def alive(self) -> bool:
        """Whether the workers are there for another pass."""
        return self._close.alive

    def _ask(self) -> None:
        """Give the next index to the next worker that has data."""
        if not self._active:
            return
        index = next(self._indices, _NOTHING)
        if index is _NOTHING:
            self._active = []
            return
        who = self._active.pop(0)
        self._active.append(who)
        try:
            self._workers[who].tasks.send((self._epoch, self._sent, index, self._seed + who))
        except OSError:
            self._died(who)
        self._asked[self._sent] = who
        self._sent += 1

    def _receive(self) -> None:
        """Wait for replies, and sort them in.

        Raises: RuntimeError: none comes in time, or a worker has died.
        """
        from multiprocessing.connection import wait  # only loaders with workers need it

        waited: dict[Any, int] = {self._workers[who].replies: who for who in self._asked.values()}
        found: Any = wait(list(waited), self._timeout)
        if not found:
            self._fail(f"DataLoader timed out after {self._timeout} seconds")
        for connection in found:
            who = waited[connection]
            try:
                epoch, number, kind, value = connection.recv()
            except (EOFError, OSError):
                self._died(who)
            if epoch != self._epoch:
                continue
            del self._asked[number]
            self._ready[number] = kind, value
            if kind == END and who in self._active:
                self._active.remove(who)

    def _died(self, who: int) -> None:
        process = self._workers[who].process
        process.join(_PATIENCE)
        self._fail(
            f"DataLoader worker {who} (pid {process.pid}) exited unexpectedly with exit code "
            f"{process.exitcode}. Details are lost due to multiprocessing. Rerunning with "
            f"num_workers=0 may give better error trace."
        )

    def _fail(self, message: str) -> None:
        self._stuck.append(True)
        self._close()
        self._asked, self._ready = {}, {}
        raise RuntimeError(message)


_NOTHING: Any = object()
