"""Data sets: what gives an example for an index, or examples one after another."""

from __future__ import annotations

import bisect
import itertools
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from ...ops.random import randperm

T_co = TypeVar("T_co", covariant=True)


class Dataset(Generic[T_co]):
    """Examples by index; a subclass defines ``__getitem__`` and most often ``__len__``.

    If there is a ``__getitems__(indices)``, a `DataLoader` asks it for a whole batch.
    """

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[T_co]) -> Dataset[T_co]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co], Iterable[T_co]):
    """Examples one after another; a subclass defines ``__iter__``.

    Raises: TypeError: it is made of a class without one.

    Each worker process of a `DataLoader` iterates over a copy of its own: see `get_worker_info`.
    """

    def __add__(self, other: Dataset[T_co]) -> Dataset[T_co]:
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Any, ...]]):
    """Example `i` is the tuple of the rows `i` of some tensors.

    Raises: AssertionError: their first axes differ in length.

    >>> import compat as torch
    >>> TensorDataset(torch.arange(3), torch.arange(6).reshape(3, 2))[1]
    (tensor(1), tensor([2, 3]))
    """

    def __init__(self, *tensors: Any) -> None:
        if any(tensors[0].size(0) != x.size(0) for x in tensors):
            raise AssertionError(
                f"Size mismatch between tensors: {[x.size(0) for x in tensors]} rows"
            )
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        return tuple(x[index] for x in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].size(0)


class StackDataset(Dataset[Any]):
    """Example `i` is the tuple, or with names the dict, of the examples `i` of some data sets.

    Raises: ValueError: there is none, some have names, or they differ in length.

    >>> StackDataset(image=["a", "b"], label=[0, 1])[1]
    {'image': 'b', 'label': 1}
    """

    datasets: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError(
                "Supported either tuple- (via args) or dict- (via kwargs) like input/output, but "
                "both types are given."
            )
        if not (args or kwargs):
            raise ValueError("At least one dataset should be passed")
        self.datasets = args or kwargs
        lengths = [len(d) for d in self._parts()]
        if len(set(lengths)) > 1:
            raise ValueError(f"Size mismatch between datasets: lengths {lengths}")
        self._length = lengths[0]

    def _parts(self) -> list[Any]:
        named = isinstance(self.datasets, dict)
        return list(self.datasets.values() if named else self.datasets)

    def _example(self, values: Sequence[Any]) -> Any:
        if isinstance(self.datasets, dict):
            return dict(zip(self.datasets, values, strict=True))
        return tuple(values)

    def __getitem__(self, index: Any) -> Any:
        return self._example([d[index] for d in self._parts()])

    def __getitems__(self, indices: Sequence[Any]) -> list[Any]:
        """The examples of several indices; each part is asked once if it can be."""
        columns = [several(d, indices) for d in self._parts()]
        for column in columns:
            if len(column) != len(indices):
                raise ValueError(
                    f"Nested dataset's output size mismatch. Expected {len(indices)}, got "
                    f"{len(column)}"
                )
        return [self._example(row) for row in zip(*columns, strict=True)]

    def __len__(self) -> int:
        return self._length


def several(dataset: Any, indices: Sequence[Any]) -> Any:
    """The examples of some indices, by ``__getitems__`` where there is one."""
    at_once = getattr(dataset, "__getitems__", None)
    return at_once(indices) if callable(at_once) else [dataset[i] for i in indices]


class ConcatDataset(Dataset[T_co]):
    """Data sets one after another.

    Raises: AssertionError: there is none, or one has no indices.

    >>> data = ConcatDataset(["ab", "cde"])
    >>> len(data), data[2], data[-1]
    (5, 'c', 'e')
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(d, IterableDataset) for d in self.datasets):
            raise AssertionError(
                "ConcatDataset does not support IterableDataset; ChainDataset does"
            )
        self.cumulative_sizes = self.cumsum(self.datasets)

    @staticmethod
    def cumsum(sequence: Iterable[Any]) -> list[int]:
        """The lengths added up."""
        return list(itertools.accumulate(len(d) for d in sequence))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Any:
        if index < -len(self):
            raise ValueError("absolute value of index should not exceed dataset length")
        if index < 0:
            index += len(self)
        which = bisect.bisect_right(self.cumulative_sizes, index)
        before = self.cumulative_sizes[which - 1] if which else 0
        return self.datasets[which][index - before]


class ChainDataset(IterableDataset[Any]):
    """Iterable data sets one after another.

    Raises: AssertionError: when it is used, if one of them is not iterable.
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        super().__init__()
        self.datasets = datasets

    def _checked(self) -> Iterator[Any]:
        for d in self.datasets:
            if not isinstance(d, IterableDataset):
                raise AssertionError(
                    f"ChainDataset only supports IterableDataset, found {type(d).__name__}"
                )
            yield d

    def __iter__(self) -> Iterator[Any]:
        for d in self._checked():
            yield from d

    def __len__(self) -> int:
        return sum(len(d) for d in self._checked())


class Subset(Dataset[T_co]):
    """The examples of some indices.

    >>> list(Subset("abcd", [3, 1]))
    ['d', 'b']
    """

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices: Sequence[int]) -> list[Any]:
        """The examples of several indices; the data set is asked once if it can be."""
        return several(self.dataset, [self.indices[i] for i in indices])

    def __len__(self) -> int:
        return len(self.indices)


def _shares(total: int, fractions: Sequence[float]) -> list[int]:
    """How many of `total` each fraction is; what rounding leaves goes to the first ones.

    Raises: ValueError: one is not between 0 and 1.
    """
    for i, fraction in enumerate(fractions):
        if not 0 <= fraction <= 1:
            raise ValueError(f"Fraction at index {i} is not between 0 and 1")
    counts = [math.floor(total * fraction) for fraction in fractions]
    for i in range(total - sum(counts)):
        counts[i % len(counts)] += 1
    for i, n in enumerate(counts):
        if n == 0:
            warnings.warn(
                f"Length of split at index {i} is 0. This might result in an empty dataset.",
                stacklevel=3,
            )
    return counts


def random_split(
    dataset: Any, lengths: Sequence[int | float], generator: Any = None
) -> list[Subset[Any]]:
    """Random parts without common examples, of given lengths, or of fractions that add up to 1.

    Raises: ValueError: the lengths do not add up to that of the data set.

    >>> [len(part) for part in random_split(range(10), [0.75, 0.25])]
    [8, 2]
    """
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = _shares(len(dataset), lengths)
    if sum(lengths) != len(dataset):
        raise ValueError(
            f"Sum of input lengths does not equal the length of the input dataset: "
            f"{sum(lengths)} and {len(dataset)}"
        )
    order = randperm(int(sum(lengths)), generator=generator).tolist()
    ends = itertools.accumulate(int(n) for n in lengths)
    return [
        Subset(dataset, order[end - int(n) : end]) for end, n in zip(ends, lengths, strict=True)
    ]
