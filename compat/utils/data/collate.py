"""From a list of examples to a batch: `default_collate`, `default_convert`."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import Any

import numpy as np

from ...autograd.base import TensorBase
from ...dtypes import float64
from ...ops.create import as_tensor, tensor
from ...ops.join import stack


def _rebuilt(container: Any, values: Any) -> Any:
    """A container like `container` with other values, given as a dict or a list.

    What cannot be made that way becomes a dict or a list.
    """
    try:
        if isinstance(container, MutableMapping):
            out: Any = copy.copy(container)
            out.update(values)
            return out
        return type(container)(values)
    except TypeError:  # an `__init__` of another form
        return values


def _is_namedtuple(x: Any) -> bool:
    return isinstance(x, tuple) and hasattr(x, "_fields")


def _is_numeric(x: Any) -> bool:
    return isinstance(x, np.ndarray | np.generic) and x.dtype.kind not in "SUOMmV"


def default_convert(data: Any) -> Any:
    """`data` with NumPy's arrays in it as tensors of the same memory.

    >>> default_convert({"x": np.array([1, 2]), "name": "a"})
    {'x': tensor([1, 2]), 'name': 'a'}
    """
    if isinstance(data, TensorBase):
        return data
    if _is_numeric(data):
        return as_tensor(data)
    if isinstance(data, Mapping):
        return _rebuilt(data, {k: default_convert(v) for k, v in data.items()})
    if _is_namedtuple(data):
        return type(data)(*map(default_convert, data))
    if isinstance(data, tuple):
        return [default_convert(x) for x in data]  # a list, as in PyTorch
    if isinstance(data, Sequence) and not isinstance(data, str | bytes):
        return _rebuilt(data, [default_convert(x) for x in data])
    return data


def default_collate(batch: Any) -> Any:
    """The examples of a list as one: tensors are stacked, dicts, tuples and lists gone through.

    Raises: TypeError: an example of another type. RuntimeError: lists of different lengths.

    >>> default_collate([{"x": 1.0, "name": "a"}, {"x": 2.0, "name": "b"}])
    {'x': tensor([1., 2.], dtype=torch.float64), 'name': ['a', 'b']}
    """
    first = batch[0]
    for kinds, collate in _LEAVES:
        if isinstance(first, kinds):
            return collate(batch)
    if isinstance(first, Mapping):
        return _rebuilt(first, {k: default_collate([d[k] for d in batch]) for k in first})
    if _is_namedtuple(first):
        return type(first)(*(default_collate(column) for column in zip(*batch, strict=True)))
    if isinstance(first, Sequence):
        if any(len(x) != len(first) for x in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = [default_collate(column) for column in zip(*batch, strict=True)]
        return columns if isinstance(first, tuple) else _rebuilt(first, columns)
    raise _not_collated(type(first))


def _not_collated(what: Any) -> TypeError:
    return TypeError(
        f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; "
        f"found {what}. Give DataLoader a collate_fn of your own for others."
    )


def _stacked(batch: Any) -> Any:
    return stack(list(batch))


def _stacked_arrays(batch: Any) -> Any:
    first = batch[0]
    if not _is_numeric(first):
        raise _not_collated(first.dtype)
    if first.shape:
        return stack([as_tensor(x) for x in batch])
    return as_tensor(np.asarray(batch))


def _floats(batch: Any) -> Any:
    return tensor(batch, dtype=float64)


# What is not gone through; the first that fits counts (a np.float64 is a float, too).
_LEAVES: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (TensorBase, _stacked),
    ((np.ndarray, np.generic), _stacked_arrays),
    (float, _floats),
    (int, tensor),
    ((str, bytes), lambda batch: batch),
)
