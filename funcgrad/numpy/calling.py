"""Functions of single numbers on arrays, and iteration over arrays."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..algebra import broadcast_shapes
from ..core import aval_of
from ..errors import ArgumentError, ShapeError, where
from ._arguments import array_of, converted, stacked
from .shaping import broadcast_arrays, broadcast_to, ravel, reshape


class vectorize:
    """A function of numbers as one of arrays, element by element, in a plain loop.

    `funcgrad.vmap` does the same in one go. Results may be tuples; `excluded` are the arguments, by
    position or name, that are passed on as they are. A `signature`, ``"(m,n),(n)->(m)"`` say, names
    the last axes that the function takes and gives; the others are looped over.

    Shapes: the arguments broadcast.   Dtypes: `otypes`, or those of the results.
    Derivative: that of the function.
    Raises: ArgumentError: no such `signature`. ShapeError: no elements and no `otypes`, or lengths
    that do not fit the signature.
    Source: NumPy reference, ``numpy.vectorize``.

    >>> vectorize(lambda a, b: a if a > b else b)(np.array([1.0, 3.0]), 2.0).tolist()
    [2.0, 3.0]
    """

    def __init__(
        self,
        pyfunc: Callable[..., Any],
        otypes: Any = None,
        doc: str | None = None,
        excluded: Any = None,
        cache: bool = False,
        signature: str | None = None,
    ) -> None:
        self.core = None if signature is None else _core_axes(signature)
        self.pyfunc, self.otypes, self.cache, self.signature = pyfunc, otypes, cache, signature
        self.excluded = set(excluded or ())
        self.__doc__ = pyfunc.__doc__ if doc is None else doc
        self.__name__ = getattr(pyfunc, "__name__", "vectorize")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        places = [i for i in range(len(args)) if i not in self.excluded]
        names = [n for n in kwargs if n not in self.excluded]
        found = [array_of(args[i]) for i in places] + [array_of(kwargs[n]) for n in names]
        core = [()] * len(found) if self.core is None else self.core[0]
        arrays, shape = _rows(found, core)
        results = []
        for row in range(math.prod(shape)):
            values = [a[row] for a in arrays]
            given = list(args)
            for i, value in zip(places, values, strict=False):
                given[i] = value
            named = dict(zip(names, values[len(places) :], strict=True))
            results.append(self.pyfunc(*given, **kwargs | named))
        return self._gathered(results, shape)

    def _gathered(self, results: list[Any], shape: tuple[int, ...]) -> Any:
        """The results of all elements as one array, or one of each entry of a tuple."""
        dtypes = None if self.otypes is None else [np.dtype(t) for t in self.otypes]
        if not results:
            if dtypes is None:
                raise ShapeError(f"fnp.vectorize: no elements; say which otypes{where()}")
            empty = tuple(np.zeros(shape, d) for d in dtypes)
            return empty if len(empty) > 1 else empty[0]
        several = isinstance(results[0], tuple)
        columns = list(zip(*results, strict=True)) if several else [tuple(results)]
        rows = [array_of(stacked(list(c))) for c in columns]
        _require_results([aval_of(y).shape[1:] for y in rows], self.core)
        outs = [reshape(y, shape + aval_of(y).shape[1:]) for y in rows]
        if dtypes is not None:
            outs = [converted(y, d) for y, d in zip(outs, dtypes, strict=True)]
        return tuple(outs) if several else outs[0]


_AXES = r"\((?:\s*\w+\s*(?:,\s*\w+\s*)*)?\)"
_SIGNATURE = re.compile(rf"\s*(?:{_AXES}(?:\s*,\s*{_AXES})*)?\s*->\s*{_AXES}(?:\s*,\s*{_AXES})*\s*")
Core = tuple[tuple[str, ...], ...]


def _core_axes(signature: str) -> tuple[Core, Core]:
    """The names of the last axes of each argument, and of each result.

    Raises: ArgumentError: the signature says nothing.
    """
    if not isinstance(signature, str) or not _SIGNATURE.fullmatch(signature):
        raise ArgumentError(
            f"fnp.vectorize: signature={signature!r}; need one like '(m,n),(n)->(m)'{where()}"
        )
    sides = [re.findall(_AXES, side) for side in signature.split("->")]
    taken, given = (tuple(tuple(re.findall(r"\w+", axes)) for axes in side) for side in sides)
    return taken, given


def _rows(arrays: list[Any], core: Sequence[tuple[str, ...]]) -> tuple[list[Any], tuple[int, ...]]:
    """The arguments of each call along a first axis, and the shape of what is looped over.

    Raises: ShapeError: there are other arguments than the signature has, or lengths do not fit it.
    """
    shapes = [aval_of(a).shape for a in arrays]
    fits = len(shapes) == len(core)
    lengths: dict[str, int] = {}
    for shape, names in zip(shapes, core, strict=False):
        fits = fits and len(shape) >= len(names)
        for name, n in zip(names, shape[len(shape) - len(names) :], strict=False):
            fits = fits and n == (int(name) if name.isdigit() else lengths.setdefault(name, n))
    if not fits:
        raise ShapeError(
            f"fnp.vectorize: arguments of shapes {[list(s) for s in shapes]} for the axes "
            f"{core}{where()}"
        )
    ends = [s[len(s) - len(names) :] for s, names in zip(shapes, core, strict=True)]
    outer = broadcast_shapes(
        "fnp.vectorize", [s[: len(s) - len(e)] for s, e in zip(shapes, ends, strict=True)]
    )
    rows = [
        reshape(broadcast_to(a, outer + e), (math.prod(outer), *e))
        for a, e in zip(arrays, ends, strict=True)
    ]
    return rows, outer


def _require_results(shapes: list[tuple[int, ...]], core: tuple[Core, Core] | None) -> None:
    if core is not None and [len(s) for s in shapes] != [len(names) for names in core[1]]:
        raise ShapeError(
            f"fnp.vectorize: results of shapes {[list(s) for s in shapes]} for the axes "
            f"{core[1]}{where()}"
        )


def ndenumerate(arr: Any) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Pairs of an index and the element there, in C order.

    Shapes: ``arr: (*a)``.   Dtypes: all.
    Derivative: that of reading the elements.
    Raises: ArgumentError: `arr` is no array.
    Source: NumPy reference, ``numpy.ndenumerate``.

    >>> [(i, float(x)) for i, x in ndenumerate(np.array([1.0, 2.0]))]
    [((0,), 1.0), ((1,), 2.0)]
    """
    x = array_of(arr)
    return ((index, x[index]) for index in np.ndindex(aval_of(x).shape))


class broadcast:
    """The arrays broadcast together: their shape, and tuples of their elements to iterate over.

    Shapes: those of the arguments, broadcast.   Dtypes: all.
    Derivative: that of reading the elements.
    Raises: ShapeError: the shapes do not broadcast.
    Source: NumPy reference, ``numpy.broadcast``.

    >>> broadcast(np.ones((2, 1)), np.ones(3)).shape
    (2, 3)
    """

    def __init__(self, *arrays: Any) -> None:
        found = broadcast_arrays(*(array_of(a) for a in arrays))
        self.shape = aval_of(found[0]).shape if found else ()
        self.ndim = self.nd = len(self.shape)
        self.size = int(np.prod(self.shape))
        self.numiter = len(found)
        self.index = 0
        self.iters = tuple(iter(ravel(broadcast_to(a, self.shape))) for a in found)

    def __iter__(self) -> broadcast:
        return self

    def __next__(self) -> tuple[Any, ...]:
        if self.index == self.size:
            raise StopIteration
        self.index += 1
        return tuple(map(next, self.iters))
