"""``torch._foreach_*``: a method of each of several tensors. Optimizers of other packages use them.

One tensor after another, as if written in a loop; with an underscore at the end, in place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..autograd.base import TensorBase

# With nothing but the tensors, or one operand for each (or for all): a tensor or a number.
_PLAIN = (
    "abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg "
    "reciprocal round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc "
    "add sub mul div pow clamp_min clamp_max lerp"
)
_CALLED = {"maximum": "clamp_min", "minimum": "clamp_max"}


def _lists(count: int, *given: Any) -> list[list[Any]]:
    """Every argument as a list of `count`; what is for all tensors is repeated.

    Raises: RuntimeError: a list has another length.
    """
    lists = [list(x) if isinstance(x, list | tuple) else [x] * count for x in given]
    for each in lists:
        if len(each) != count:
            raise RuntimeError(
                f"Tensor lists must have the same number of tensors, got {count} and {len(each)}"
            )
    return lists


def _plain(name: str, method: str) -> Callable[..., Any]:
    def function(self: Any, *operands: Any, **named: Any) -> Any:
        alpha = {"alpha": named.pop("alpha")} if "alpha" in named else {}
        rows = zip(self, *_lists(len(self), *operands, *named.values()), strict=True)
        results = tuple(getattr(x, method)(*row, **alpha) for x, *row in rows)
        return self if name[-1] == "_" else results

    return _called(function, name)


def _product(name: str) -> Callable[..., Any]:
    def function(
        self: Any, tensor1: Any, tensor2: Any, value: Any = 1, *, scalars: Any = None
    ) -> Any:
        factors = value if scalars is None else scalars
        if isinstance(factors, TensorBase):
            factors = _of_a_vector(factors)
        rows = zip(self, *_lists(len(self), tensor1, tensor2, factors), strict=True)
        results = tuple(getattr(x, name)(a, b, value=v) for x, a, b, v in rows)
        return self if name[-1] == "_" else results

    return _called(function, name)


def _of_a_vector(factors: Any) -> list[Any]:
    """Its numbers, one for each tensor. Raises: RuntimeError: it has not one axis."""
    if factors.ndim != 1:
        raise RuntimeError(
            f"Expected packed scalar Tensor to be of dimension 1. Got {factors.ndim} instead."
        )
    return factors.tolist()


def _called(function: Any, name: str) -> Any:
    function.__name__ = function.__qualname__ = f"_foreach_{name}"
    function.__doc__ = f"`Tensor.{name}` of each tensor."
    return function


def _pow(self: Any, exponent: Any) -> tuple[Any, ...]:
    """Powers of each tensor, or of one number to each."""
    bases = [self] * len(exponent) if isinstance(self, int | float | complex) else self
    rows = zip(bases, *_lists(len(bases), exponent), strict=True)
    return tuple(pow(x, e) for x, e in rows)


def _norm(self: Any, ord: Any = 2, dtype: Any = None) -> tuple[Any, ...]:
    return tuple(x.norm(ord, dtype=dtype) for x in self)


def _powsum(self: Any, ord: Any = 2, dtype: Any = None) -> tuple[Any, ...]:
    return tuple(x.to(dtype or x.dtype).abs().pow(ord).sum() for x in self)


def _mm(self: Any, mat2: Any) -> tuple[Any, ...]:
    return tuple(x.mm(y) for x, y in zip(self, *_lists(len(self), mat2), strict=True))


def _clone(self: Any, *, memory_format: Any = None) -> tuple[Any, ...]:
    kept = {} if memory_format is None else {"memory_format": memory_format}
    return tuple(x.clone(**kept) for x in self)


def _max(self: Any) -> tuple[Any, ...]:
    return tuple(x.max() for x in self)


def _copy_(self: Any, src: Any, non_blocking: bool = False) -> Any:
    for x, y in zip(self, *_lists(len(self), src), strict=True):
        x.copy_(y)
    return self


def _zero_(self: Any) -> Any:
    for x in self:
        x.zero_()
    return self


_functions = {"clone": _clone, "copy_": _copy_, "max": _max, "mm": _mm, "norm": _norm}
_functions |= {"powsum": _powsum, "zero_": _zero_}
for _end in ("", "_"):
    _functions |= {f"{n}{_end}": _plain(f"{n}{_end}", f"{n}{_end}") for n in _PLAIN.split()}
    _functions |= {f"{n}{_end}": _plain(f"{n}{_end}", f"{m}{_end}") for n, m in _CALLED.items()}
    _functions |= {f"{n}{_end}": _product(f"{n}{_end}") for n in ("addcmul", "addcdiv")}
_functions["pow"] = _pow
globals().update({f"_foreach_{name}": function for name, function in _functions.items()})

__all__ = sorted(f"_foreach_{name}" for name in _functions)
