"""Data sets, samplers, collation and the loader; most of it on PyTorch too."""

from __future__ import annotations

import collections
import importlib
import os
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from outcomes import both, module

import compat
from compat.utils import data as ours


@both()
def torch(request: pytest.FixtureRequest) -> Any:
    """The module: ours, and PyTorch where it is installed."""
    found = module(request.param)
    importlib.import_module(f"{found.__name__}.utils.data")
    return found


# ---------------------------------------------------------------- data sets

lists = st.lists(st.integers(0, 9), max_size=6)


@given(parts=st.lists(lists, min_size=1, max_size=4))
def test_concatenation_is_that_of_lists(parts: list[list[int]]) -> None:
    joined: ours.ConcatDataset[int] = ours.ConcatDataset(parts)
    expected = [x for part in parts for x in part]
    n = len(expected)
    assert len(joined) == n
    assert [joined[i] for i in range(-n, n)] == expected * 2
    with pytest.raises(ValueError, match="absolute value"):
        joined[-n - 1]


@given(data=st.lists(st.integers(), min_size=2, max_size=6), seed=st.integers(0, 9), draw=st.data())
def test_a_random_split_is_a_partition(data: list[int], seed: int, draw: st.DataObject) -> None:
    cut = draw.draw(st.integers(0, len(data)))
    lengths = [cut, len(data) - cut]
    generator = compat.Generator().manual_seed(seed)
    parts = ours.random_split(data, lengths, generator)
    assert [len(p) for p in parts] == lengths
    assert sorted(i for p in parts for i in p.indices) == list(range(len(data)))
    again = ours.random_split(data, lengths, compat.Generator().manual_seed(seed))
    assert [p.indices for p in again] == [p.indices for p in parts]


@pytest.mark.parametrize(
    ("n", "fractions"), [(10, [0.75, 0.25]), (7, [0.5, 0.5]), (11, [1 / 3] * 3), (3, [1.0])]
)
def test_fractions(torch: Any, n: int, fractions: list[float]) -> None:
    counts = [len(p) for p in torch.utils.data.random_split(range(n), fractions)]
    floors = [int(n * f) for f in fractions]
    left = n - sum(floors)
    assert counts == [c + (i < left) for i, c in enumerate(floors)]


def test_an_empty_part_warns(torch: Any) -> None:
    with pytest.warns(UserWarning, match="Length of split at index 1 is 0"):
        torch.utils.data.random_split(range(2), [0.9, 0.1])


def test_stacks_subsets_and_sums(torch: Any) -> None:
    d = torch.utils.data
    rows = d.TensorDataset(torch.arange(4), torch.arange(8).reshape(4, 2))
    assert len(rows) == 4 and [x.tolist() for x in rows[2]] == [2, [4, 5]]
    both = d.StackDataset("abcd", rows)
    assert both[1][0] == "b" and [x[0] for x in both.__getitems__([3, 0])] == ["d", "a"]
    named = d.StackDataset(a="abcd", b=range(4))
    assert named[3] == {"a": "d", "b": 3} and len(named) == 4
    subset = d.Subset(d.Subset("abcd", [3, 2, 0]), [2, 0])
    assert subset.__getitems__([0, 1]) == ["a", "d"] and len(subset) == 2
    assert len(rows + rows) == 8


class Counting(ours.IterableDataset[int]):
    """The numbers below `n`; workers share them."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __iter__(self) -> Any:
        info = ours.get_worker_info()
        return iter(range(self.n) if info is None else range(info.id, self.n, info.num_workers))

    def __len__(self) -> int:
        return self.n


def test_chains() -> None:
    chain: Any = Counting(3) + Counting(2)
    assert list(chain) == [0, 1, 2, 0, 1] and len(chain) == 5


def iterable(d: Any) -> Any:
    """A data set without a length."""

    class Endless(d.IterableDataset):
        def __iter__(self) -> Any:
            return iter(int, 1)

    return Endless()


ERRORS: list[tuple[Any, type[Exception]]] = [
    (lambda d, t: d.TensorDataset(t.ones(2), t.ones(3)), AssertionError),
    (lambda d, t: d.StackDataset([1], a=[1]), ValueError),
    (lambda d, t: d.StackDataset(), ValueError),
    (lambda d, t: d.StackDataset([1], [1, 2]), ValueError),
    (lambda d, t: d.ConcatDataset([]), AssertionError),
    (lambda d, t: d.ConcatDataset([d.ChainDataset([])]), AssertionError),
    (lambda d, t: list(d.ChainDataset([[1]])), AssertionError),
    (lambda d, t: d.IterableDataset(), TypeError),
    (lambda d, t: d.Dataset()[0], NotImplementedError),
    (lambda d, t: d.random_split([1, 2], [2, 3]), ValueError),
    (lambda d, t: d.random_split([1, 2], [1.5, -0.5]), ValueError),
    (lambda d, t: d.RandomSampler([1], replacement=1), TypeError),
    (lambda d, t: d.RandomSampler([1], num_samples=0), ValueError),
    (lambda d, t: d.WeightedRandomSampler([1.0], 0), ValueError),
    (lambda d, t: d.WeightedRandomSampler([1.0], 1, 1), ValueError),
    (lambda d, t: d.WeightedRandomSampler([[1.0]], 1), ValueError),
    (lambda d, t: d.BatchSampler([1], 0, False), ValueError),
    (lambda d, t: d.BatchSampler([1], 2, 0), ValueError),
    (lambda d, t: d.default_collate([object()]), TypeError),
    (lambda d, t: d.default_collate([np.array(["a"])]), TypeError),
    (lambda d, t: d.default_collate([[1], [1, 2]]), RuntimeError),
    (lambda d, t: d.default_collate([t.ones(1), t.ones(2)]), RuntimeError),
    (lambda d, t: d.DataLoader([1], num_workers=-1), ValueError),
    (lambda d, t: d.DataLoader([1], timeout=-1), ValueError),
    (lambda d, t: d.DataLoader([1], prefetch_factor=2), ValueError),
    (lambda d, t: d.DataLoader([1], num_workers=1, prefetch_factor=-1), ValueError),
    (lambda d, t: d.DataLoader([1], persistent_workers=True), ValueError),
    (lambda d, t: d.DataLoader([1], sampler=[0], shuffle=True), ValueError),
    (lambda d, t: d.DataLoader([1], batch_sampler=[[0]], batch_size=2), ValueError),
    (lambda d, t: d.DataLoader([1], batch_sampler=[[0]], shuffle=True), ValueError),
    (lambda d, t: d.DataLoader([1], batch_size=None, drop_last=True), ValueError),
    (lambda d, t: d.DataLoader([1], batch_size=0), ValueError),
    (lambda d, t: d.DataLoader([], shuffle=True, batch_size=-1), ValueError),
    (lambda d, t: d.DataLoader(d.ChainDataset([]), shuffle=True), ValueError),
    (lambda d, t: d.DataLoader(d.ChainDataset([]), sampler=[0]), ValueError),
    (lambda d, t: d.DataLoader(d.ChainDataset([]), batch_sampler=[[0]]), ValueError),
    (lambda d, t: d.DataLoader([1], multiprocessing_context="fork"), ValueError),
    (lambda d, t: d.DataLoader([1], num_workers=1, multiprocessing_context="no"), ValueError),
    (lambda d, t: d.DataLoader([1], num_workers=1, multiprocessing_context=1), TypeError),
    (lambda d, t: setattr(d.DataLoader([1]), "batch_size", 2), ValueError),
    (lambda d, t: setattr(d.DataLoader([1]), "sampler", [0]), ValueError),
    (lambda d, t: len(d.DataLoader(iterable(d))), TypeError),
]


@pytest.mark.parametrize("number", range(len(ERRORS)))
def test_errors(torch: Any, number: int) -> None:
    code, error = ERRORS[number]
    with pytest.raises(error) as found:
        code(torch.utils.data, torch)
    assert found.type is error


# ---------------------------------------------------------------- samplers


@given(n=st.integers(1, 8), wanted=st.none() | st.integers(1, 20), seed=st.integers(0, 5))
def test_random_orders(n: int, wanted: int | None, seed: int) -> None:
    def drawn(replacement: bool) -> list[int]:
        generator = compat.Generator().manual_seed(seed)
        sampler = ours.RandomSampler(range(n), replacement, wanted, generator)
        found = list(sampler)
        assert len(sampler) == len(found) == (wanted or n)
        return found

    assert drawn(True) == drawn(True) and set(drawn(True)) <= set(range(n))
    order = drawn(False)
    assert order == drawn(False)
    for i in range(0, len(order) - n + 1, n):
        assert sorted(order[i : i + n]) == list(range(n))
    assert len(set(order[-(len(order) % n) :])) == (len(order) % n or n if order else 0)


def test_every_order_is_drawn() -> None:
    compat.manual_seed(0)
    counts = collections.Counter(tuple(ours.RandomSampler(range(3))) for _ in range(600))
    assert len(counts) == 6 and min(counts.values()) > 60
    subsets = collections.Counter(tuple(ours.SubsetRandomSampler([7, 5])) for _ in range(200))
    assert set(subsets) == {(7, 5), (5, 7)} and min(subsets.values()) > 60


def test_weights_are_probabilities() -> None:
    compat.manual_seed(0)
    drawn = list(ours.WeightedRandomSampler([0.0, 1.0, 3.0], 4000))
    counts = np.bincount(drawn, minlength=3) / len(drawn)
    np.testing.assert_allclose(counts, [0, 0.25, 0.75], atol=0.03)
    assert sorted(ours.WeightedRandomSampler([1.0, 2.0, 0.5], 3, replacement=False)) == [0, 1, 2]


@given(n=st.integers(0, 12), size=st.integers(1, 5), drop=st.booleans())
def test_batches_are_slices(n: int, size: int, drop: bool) -> None:
    expected = [list(range(n))[i : i + size] for i in range(0, n, size)]
    if drop:
        expected = [b for b in expected if len(b) == size]
    sampler = ours.BatchSampler(ours.SequentialSampler(range(n)), size, drop)
    assert list(sampler) == expected and len(sampler) == len(expected)
    for dataset in (range(n), Counting(n)):
        loader = ours.DataLoader(dataset, size, drop_last=drop)
        assert [b.tolist() for b in loader] == expected and len(loader) == len(expected)
    assert [b.tolist() for b in ours.DataLoader(range(n), batch_sampler=expected)] == expected


# ---------------------------------------------------------------- collation

Pair = collections.namedtuple("Pair", "x y")


def plain(x: Any) -> Any:
    """Tensors as their dtype and numbers, in the containers they are in."""
    if hasattr(x, "tolist"):
        return str(x.dtype), x.tolist()
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    if isinstance(x, tuple | list):
        return type(x).__name__, [plain(y) for y in x]
    return x


EXAMPLES: list[Any] = [
    lambda t: 1,
    lambda t: 1.5,
    lambda t: True,
    lambda t: "a",
    lambda t: b"a",
    lambda t: np.float32(2),
    lambda t: np.int16(2),
    lambda t: np.array(3),
    lambda t: np.ones((2, 2), np.float32),
    lambda t: t.ones(2),
    lambda t: (1, "a", t.ones(1)),
    lambda t: [1, (2.0, [3])],
    lambda t: {"a": 1, "b": [t.zeros(1)]},
    lambda t: collections.OrderedDict(a=1),
    lambda t: Pair(1, (2.0,)),
    lambda t: range(2),
]


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
@pytest.mark.parametrize("name", ["default_collate", "default_convert"])
def test_collation_is_pytorchs(name: str, number: int) -> None:
    torch = pytest.importorskip("torch")

    def outcome(th: Any) -> Any:
        example = EXAMPLES[number](th)
        given = [example] * 3 if name == "default_collate" else example
        found = getattr(th.utils.data, name)(given)
        return type(found).__name__, plain(found)

    assert outcome(compat) == outcome(torch)


def test_a_convert_shares_memory(torch: Any) -> None:
    array = np.zeros(2)
    (found,) = torch.utils.data.default_convert([array])
    found[0] = 1
    assert array[0] == 1


# ---------------------------------------------------------------- the loader


def test_what_the_loader_asks_for(torch: Any) -> None:
    class Asked(torch.utils.data.Dataset):
        def __len__(self) -> int:
            return 3

        def __getitems__(self, indices: list[int]) -> list[int]:
            return [10 * i for i in indices]

        def __getitem__(self, i: int) -> int:
            return i

    loader = torch.utils.data.DataLoader
    assert [b.tolist() for b in loader(Asked(), 2)] == [[0, 10], [20]]
    assert list(loader(Asked(), batch_size=None)) == [0, 1, 2]
    assert list(loader(Asked(), 2, collate_fn=sum)) == [10, 20]


def test_an_error_costs_one_batch(torch: Any) -> None:
    """Loops that leave out what cannot be read had ended at the first of it, as if all were done."""

    class Faulty(torch.utils.data.Dataset):
        def __len__(self) -> int:
            return 5

        def __getitem__(self, i: int) -> int:
            if i % 2:
                raise KeyError(i)
            return i

    iterator = iter(torch.utils.data.DataLoader(Faulty(), batch_size=None))
    assert len(iterator) == 5
    found: list[Any] = []
    for _ in range(5):
        try:
            found.append(next(iterator))
        except KeyError:
            found.append("error")
    assert found == [0, "error", 2, "error", 4]
    with pytest.raises(StopIteration):
        next(iterator)


@given(n=st.integers(1, 9), seed=st.integers(0, 5))
def test_shuffling(n: int, seed: int) -> None:
    def order() -> list[int]:
        generator = compat.Generator().manual_seed(seed)
        loader = ours.DataLoader(range(n), 2, shuffle=True, generator=generator)
        return [i for b in loader for i in b.tolist()]

    assert sorted(order()) == list(range(n)) and order() == order()


# ---------------------------------------------------------------- workers


class Slow(ours.Dataset[Any]):
    """Later examples of a batch are faster; `faults`: what happens at an index."""

    def __init__(self, n: int, **faults: int) -> None:
        self.n, self.faults = n, faults

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, i: int) -> Any:
        if self.faults.get("error") == i:
            raise KeyError(f"no example\n{i}")
        if self.faults.get("death") == i:
            os._exit(3)
        if self.faults.get("sleep") == i:
            time.sleep(60)
        if self.faults.get("unsendable") == i:
            return lambda: None
        time.sleep(0.02 * (i % 2 == 0))
        info = ours.get_worker_info()
        return compat.tensor([float(i)]), info.id if info else -1, os.getpid()


def first(examples: list[Any]) -> Any:
    return examples[0]


def numbers(loader: Any) -> list[float]:
    return [x.item() for x, *_ in loader]


def slow(n: int, workers: int = 2, faults: dict[str, int] | None = None, **options: Any) -> Any:
    dataset = Slow(n, **(faults or {}))
    return ours.DataLoader(dataset, 1, num_workers=workers, collate_fn=first, **options)


def test_workers_keep_the_order() -> None:
    found = list(slow(9))
    assert [x.item() for x, *_ in found] == list(range(9))
    assert [who for _, who, _ in found] == [i % 2 for i in range(9)]
    assert os.getpid() not in {pid for *_, pid in found}
    assert len({pid for *_, pid in found}) == 2


def test_out_of_order_nothing_is_lost() -> None:
    assert sorted(numbers(slow(9, in_order=False))) == list(range(9))


def test_persistent_workers_stay() -> None:
    order = [0, 1, 2, 3]
    loader = slow(4, persistent_workers=True, sampler=order)
    pids = []
    for _ in range(2):
        found = list(loader)
        assert [x.item() for x, *_ in found] == [0, 1, 2, 3]
        pids.append({pid for *_, pid in found})
    iterator = iter(loader)
    assert next(iterator)[0].item() == 0
    order.reverse()
    assert numbers(loader) == [3, 2, 1, 0]  # nothing of the pass before
    assert pids[0] == pids[1]
    processes = [w.process for w in loader._iterator._workers]
    del loader, iterator
    assert not any(p.is_alive() for p in processes)


def test_iterable_data_in_workers() -> None:
    loader = ours.DataLoader(Counting(7), 2, num_workers=2)
    assert [b.tolist() for b in loader] == [[0, 2], [1, 3], [4, 6], [5]]
    loader = ours.DataLoader(Counting(7), 2, num_workers=2, drop_last=True)
    assert [b.tolist() for b in loader] == [[0, 2], [1, 3], [4, 6]]
    assert list(ours.DataLoader(Counting(3), None, num_workers=2)) == [0, 1, 2]


class Longer(Counting):
    def __len__(self) -> int:
        return 4


@pytest.mark.parametrize("workers", [0, 2])
def test_more_than_the_length_that_was_said_is_a_warning(workers: int) -> None:
    loader = ours.DataLoader(Longer(6), None, num_workers=workers)
    assert list(loader) == list(range(6))
    assert len(loader) == 4
    iterator = iter(loader)
    assert [next(iterator) for _ in range(4)] == [0, 1, 2, 3]
    for i in (4, 5):
        with pytest.warns(UserWarning, match=f"reported to be 4 .* but {i + 1} samples"):
            assert next(iterator) == i


class Random(ours.Dataset[Any]):
    def __len__(self) -> int:
        return 4

    def __getitem__(self, i: int) -> Any:
        return compat.rand(()).item(), np.random.rand()


def test_workers_draw_different_numbers_again_and_again() -> None:
    def drawn() -> list[Any]:
        generator = compat.Generator().manual_seed(0)
        loader = ours.DataLoader(Random(), None, num_workers=2, generator=generator)
        return list(map(tuple, loader))

    found = drawn()
    assert len(set(found)) == 4 and found == drawn()


SEEN: list[int] = []


def note(worker: int) -> None:
    SEEN.append(worker)


class Noted(Slow):
    def __getitem__(self, i: int) -> Any:
        return list(SEEN)


def test_worker_init_fn_runs_once_in_each() -> None:
    loader = ours.DataLoader(
        Noted(3), None, num_workers=2, worker_init_fn=note, persistent_workers=True
    )
    assert [list(loader), list(loader)] == [[[0], [1], [0]]] * 2
    assert SEEN == []


def fail(worker: int) -> None:
    raise ZeroDivisionError("in init")


def test_an_error_is_raised_with_its_traceback() -> None:
    iterator = iter(slow(4, faults={"error": 2}))
    assert [next(iterator)[0].item() for _ in range(2)] == [0, 1]
    with pytest.raises(KeyError) as found:
        next(iterator)
    said = str(found.value)
    assert "Caught KeyError in DataLoader worker process 0" in said
    assert "__getitem__" in said and said.rstrip().endswith(r"'no example\n2'")
    assert next(iterator)[0].item() == 3  # as in PyTorch, the others go on
    with pytest.raises(ZeroDivisionError, match="in init"):
        list(slow(2, worker_init_fn=fail))


def test_what_cannot_be_sent_is_an_error() -> None:
    with pytest.raises(Exception, match=r"(?s)worker process 1.*[Pp]ickle"):
        list(slow(4, faults={"unsendable": 1}))


def test_a_dead_worker_is_noticed() -> None:
    with pytest.raises(RuntimeError, match=r"worker 1 .* exited unexpectedly with exit code 3"):
        list(slow(4, faults={"death": 1}))


def test_a_timeout() -> None:
    start = time.monotonic()
    with pytest.raises(RuntimeError, match="timed out"):
        list(slow(4, faults={"sleep": 1}, timeout=0.5))
    assert time.monotonic() - start < 20


def test_workers_end_with_their_iterator() -> None:
    iterator = iter(slow(50))
    next(iterator)
    processes = [w.process for w in iterator._workers]
    assert all(p.is_alive() for p in processes)
    del iterator
    assert not any(p.is_alive() for p in processes)


def test_spawned_workers() -> None:
    loader = slow(3, workers=1, multiprocessing_context="spawn")
    assert numbers(loader) == [0, 1, 2]
