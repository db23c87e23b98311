"""`torch.testing`: `assert_close`, the older `assert_allclose`, and `make_tensor`.

>>> import compat as torch
>>> torch.testing.assert_close(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0000001]))
"""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes
from ._missing import explain as _explain_missing
from .autograd.base import TensorBase
from .ops.complex import view_as_complex
from .ops.create import as_tensor, empty
from .ops.random import randint

if TYPE_CHECKING:
    from ._tensor import Tensor

# rtol and atol by dtype; everything else must be equal.
_TOLERANCES: dict[Any, tuple[float, float]] = {
    dtypes.float16: (1e-3, 1e-5),
    dtypes.float32: (1.3e-6, 1e-5),
    dtypes.float64: (1e-7, 1e-7),
    dtypes.complex64: (1.3e-6, 1e-5),
    dtypes.complex128: (1e-7, 1e-7),
}
if hasattr(dtypes, "bfloat16"):  # which needs the package ml_dtypes
    _TOLERANCES[dtypes.bfloat16] = (1.6e-2, 1e-5)
# Those of `assert_allclose`.
_WIDER: dict[Any, tuple[float, float]] = {
    dtypes.float16: (1e-3, 1e-3),
    dtypes.float32: (1e-4, 1e-5),
    dtypes.float64: (1e-5, 1e-8),
}


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Every ``|actual - expected| <= atol + rtol * |expected|``; sequences and mappings entrywise.

    Without `rtol` and `atol` they follow from the dtypes, the looser of the two.

    Raises: AssertionError: they are not close. ValueError: only one tolerance is given. TypeError:
    they cannot be compared.
    """
    if (rtol is None) != (atol is None):
        raise ValueError(
            f"Both 'rtol' and 'atol' must be either specified or unspecified, but got {rtol=} and "
            f"{atol=}."
        )
    checks = {
        "device": check_device,
        "dtype": check_dtype,
        "layout": check_layout,
        "stride": check_stride,
    }
    try:
        _compare(actual, expected, "", (rtol, atol, equal_nan), checks, allow_subclasses)
    except AssertionError as error:
        said = msg(str(error)) if callable(msg) else msg
        raise AssertionError(said or str(error)) from None


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """`assert_close` of what `as_tensor` makes of both, of any dtypes, by wider tolerances.

    Raises: AssertionError: they are not close. ValueError: only one tolerance is given.
    """
    warnings.warn(
        "`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a future "
        "release. Please use `torch.testing.assert_close()` instead.",
        FutureWarning,
        stacklevel=2,
    )
    actual = as_tensor(actual)
    if not isinstance(expected, TensorBase):
        expected = as_tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        found = [_WIDER.get(x.dtype, (0.0, 0.0)) for x in (actual, expected)]
        rtol, atol = (max(column) for column in zip(*found, strict=True))
    assert_close(
        actual,
        expected,
        rtol=rtol,
        atol=atol,
        equal_nan=equal_nan,
        check_dtype=False,
        msg=msg or None,
    )


def make_tensor(
    *shape: Any,
    dtype: Any,
    device: Any,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Random numbers from ``[low, high)``, by default from -9 or 0 to 9, or booleans.

    Raises: ValueError: an interval without a number of the dtype, or options that contradict.

    >>> import compat as torch
    >>> torch.testing.make_tensor((2, 3), dtype=torch.int8, device="cpu").shape
    torch.Size([2, 3])
    """
    chosen = dtypes.as_dtype(dtype)
    if noncontiguous and memory_format is not None:
        raise ValueError(
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive"
        )
    if requires_grad and chosen.category < 2:
        raise ValueError(
            "`requires_grad=True` is not supported for boolean and integral dtypes, but got "
            f"dtype={chosen}"
        )
    sizes = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], Sequence) else shape
    if noncontiguous and math.prod(sizes) > 1:
        sizes = (*sizes[:-1], 2 * sizes[-1])  # of which every second is shown
    else:
        noncontiguous = False
    least, most = _interval(chosen, low, high)
    if chosen.category < 2:
        made = randint(math.ceil(least), math.ceil(most), sizes, dtype=chosen, device=device)
    else:
        parts = sizes if chosen.category == 2 else (*sizes, 2)
        real = empty(parts, dtype=chosen.to_real(), device=device).uniform_(least, most)
        made = real if chosen.category == 2 else view_as_complex(real)
    if noncontiguous:
        made = made[..., 1::2]
    elif memory_format is not None:
        made = made.clone(memory_format=memory_format)
    if exclude_zero:
        made[made == 0] = 1 if chosen.category < 2 else dtypes.finfo(chosen).tiny
    return made.requires_grad_(requires_grad)


def _interval(chosen: Any, low: Any, high: Any) -> tuple[float, float]:
    """The bounds of random numbers, within what the dtype holds.

    Raises: ValueError: nothing lies between them.
    """
    first: float
    last: float
    if chosen.category == 0:
        first, last = 0, 2
    elif chosen.category == 1:
        limits = dtypes.iinfo(chosen)
        first, last = limits.min, limits.max + (chosen is not dtypes.int64)
    else:
        first, last = dtypes.finfo(chosen).min, dtypes.finfo(chosen).max
    usual = {0: (0, 2), 1: (-9, 10)}.get(chosen.category, (-9, 9))
    low, high = usual[0] if low is None else low, usual[1] if high is None else high
    if math.isnan(low) or math.isnan(high):
        raise ValueError(f"`low` and `high` cannot be NaN, but got {low=} and {high=}")
    if low > high or (low == high and chosen.category < 2):
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    if high < first or low >= last:
        raise ValueError(
            f"The value interval specified by `low` and `high` is [{low}, {high}), but {chosen} only "
            f"supports [{first}, {last})"
        )
    return min(max(low, first), last), min(max(high, first), last)


def _compare(
    a: Any, e: Any, path: str, tolerances: Any, checks: dict[str, bool], subclasses: bool
) -> None:
    where = f"\n\nThe failure occurred for item {path}" if path else ""
    if isinstance(a, Mapping) and isinstance(e, Mapping):
        if a.keys() != e.keys():
            raise AssertionError(
                "The keys of the mappings do not match:\n"
                f"Missing keys in the actual mapping: {sorted(set(e) - set(a))}\n"
                f"Missing keys in the expected mapping: {sorted(set(a) - set(e))}{where}"
            )
        pairs = [(a[key], e[key], f"{path}[{key!r}]") for key in a]
    elif _is_sequence(a) and _is_sequence(e):
        if len(a) != len(e):
            raise AssertionError(
                f"The length of the sequences mismatch: {len(a)} != {len(e)}{where}"
            )
        pairs = [(x, y, f"{path}[{i}]") for i, (x, y) in enumerate(zip(a, e, strict=True))]
    else:
        return _compare_values(a, e, where, tolerances, checks, subclasses)
    for x, y, below in pairs:
        _compare(x, y, below, tolerances, checks, subclasses)
    return None


def _is_sequence(x: Any) -> bool:
    return isinstance(x, Sequence) and not isinstance(x, str)


def _compare_values(
    a: Any, e: Any, where: str, tolerances: Any, checks: dict[str, bool], subclasses: bool
) -> None:
    if a is None or e is None:
        if a is not e:
            raise AssertionError(f"None mismatch: {a} is not {e}{where}")
        return
    scalars = [isinstance(x, numbers.Number) for x in (a, e)]
    alike = subclasses or type(a) is type(e)
    if not alike or not (all(scalars) or (_is_array(a) and _is_array(e) and not any(scalars))):
        raise TypeError(
            f"No comparison pair was able to handle inputs of type {type(a)} and {type(e)}."
        )
    kind = "Scalars" if all(scalars) else "Tensor-likes"
    a, e = (as_tensor(x) for x in (a, e))
    if kind == "Scalars":
        checks = {"dtype": checks["dtype"]}
    if a.shape != e.shape:
        raise AssertionError(
            f"The values for attribute 'shape' do not match: {a.shape} != {e.shape}.{where}"
        )
    for name, wanted in checks.items():
        x, y = (t.stride() if name == "stride" else getattr(t, name) for t in (a, e))
        if wanted and x != y:
            raise AssertionError(
                f"The values for attribute '{name}' do not match: {x} != {y}.{where}"
            )
    _compare_numbers(a, e, kind, where, tolerances)


def _is_array(x: Any) -> bool:
    return isinstance(x, (TensorBase, np.ndarray, np.generic))


def _compare_numbers(a: Any, e: Any, kind: str, where: str, tolerances: Any) -> None:
    rtol, atol, equal_nan = tolerances
    if rtol is None:
        found = [_TOLERANCES.get(x.dtype, (0.0, 0.0)) for x in (a, e)]
        rtol, atol = (max(column) for column in zip(*found, strict=True))
    x, y = (np.asarray(t.detach().cpu().resolve_conj()._array) for t in (a, e))
    common = np.complex128 if "c" in (x.dtype.kind, y.dtype.kind) else np.float64
    if {x.dtype.kind, y.dtype.kind} - set("iub"):  # integers are compared as such
        x, y = x.astype(common), y.astype(common)
    close = np.isclose(x, y, rtol=rtol, atol=atol, equal_nan=equal_nan)
    if close.all():
        return
    bad = ~close
    if kind == "Scalars":
        said = f"Scalars are not close!\n\nExpected {e.item()} but got {a.item()}."
    else:
        with np.errstate(all="ignore"):
            gap = np.where(bad, np.abs(x.astype(common) - y.astype(common)), 0.0)
            relative = np.where(bad, gap / np.abs(y.astype(common)), 0.0)
        said = (
            f"Tensor-likes are not {'close' if rtol or atol else 'equal'}!\n\n"
            f"Mismatched elements: {bad.sum()} / {bad.size} ({100 * bad.mean():.1f}%)\n"
            f"Greatest absolute difference: {gap.max()} at index "
            f"{_place(gap)} (up to {atol} allowed)\n"
            f"Greatest relative difference: {relative.max()} at index "
            f"{_place(relative)} (up to {rtol} allowed)"
        )
    raise AssertionError(said + where)


def _place(x: Any) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(np.argmax(x), x.shape))


_explain_missing("torch.testing", globals())
