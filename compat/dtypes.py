"""The types of numbers: `dtype`, `finfo`, `iinfo`, the default dtype, and PyTorch's promotion.

Layer 6, below everything else of the package. A `dtype` is a name for one of NumPy's; `dtype.numpy`
is NumPy's own object, which arrays carry.
"""

from __future__ import annotations

import builtins
from math import log10
from typing import Any

import numpy as np

_DTYPES: dict[Any, dtype] = {}  # by NumPy's dtype


class dtype:
    """The type of a tensor's elements; there is one object of each.

    >>> float32, float32.itemsize, float32.is_floating_point, float64.to_complex()
    (torch.float32, 4, True, torch.complex128)
    """

    __slots__ = ("category", "name", "numpy")

    def __init__(self, name: str, numpy: Any = None) -> None:
        self.name = name
        self.numpy = np.dtype(name if numpy is None else numpy)
        kind = self.numpy.kind
        # What promotes what: booleans, integers, floats, complex numbers.
        self.category = {"b": 0, "i": 1, "u": 1, "c": 3}.get(kind, 2)
        _DTYPES[self.numpy] = self

    @property
    def is_floating_point(self) -> builtins.bool:
        return self.category == 2

    @property
    def is_complex(self) -> builtins.bool:
        return self.category == 3

    @property
    def is_signed(self) -> builtins.bool:
        return self.numpy.kind not in "bu"

    @property
    def itemsize(self) -> builtins.int:
        return self.numpy.itemsize

    def to_real(self) -> dtype:
        """The dtype of the real parts."""
        return of(self.numpy.type(0).real.dtype) if self.category == 3 else self

    def to_complex(self) -> dtype:
        """The dtype of complex numbers with parts of this one; the smallest is complex64.

        Raises: RuntimeError: this is a dtype of integers.
        """
        if self.category < 2:
            raise RuntimeError(f"Unknown Complex ScalarType for {self.name}")
        if self.category == 3:
            return self
        return complex128 if self.itemsize == 8 else complex64

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


class NamedDtype(dtype):
    """A dtype of which there are no tensors: programs compare with it, and ask for its limits."""

    __slots__ = ()

    def __init__(self, name: str, numpy: Any = None, category: builtins.int | None = None) -> None:
        super().__init__(name, numpy)
        del _DTYPES[self.numpy]
        if category is not None:
            self.category = category

    def to_real(self) -> dtype:
        return float16 if self.category == 3 else self


float32 = dtype("float32")
float64 = dtype("float64")
float16 = dtype("float16")
complex64 = dtype("complex64")
complex128 = dtype("complex128")
int64 = dtype("int64")
int32 = dtype("int32")
int16 = dtype("int16")
int8 = dtype("int8")
uint8 = dtype("uint8")
bool = dtype("bool")
uint16 = NamedDtype("uint16")
uint32 = NamedDtype("uint32")
uint64 = NamedDtype("uint64")
complex32 = NamedDtype("complex32", [("real", "f2"), ("imag", "f2")], 3)

try:
    import ml_dtypes as _ml_dtypes
except ImportError:
    pass
else:
    bfloat16 = dtype("bfloat16", _ml_dtypes.bfloat16)
    float8_e4m3fn = NamedDtype("float8_e4m3fn", _ml_dtypes.float8_e4m3fn)
    float8_e4m3fnuz = NamedDtype("float8_e4m3fnuz", _ml_dtypes.float8_e4m3fnuz)
    float8_e5m2 = NamedDtype("float8_e5m2", _ml_dtypes.float8_e5m2)
    float8_e5m2fnuz = NamedDtype("float8_e5m2fnuz", _ml_dtypes.float8_e5m2fnuz)

float = float32
double = float64
half = float16
chalf = complex32
cfloat = complex64
cdouble = complex128
long = int64
int = int32
short = int16


def of(numpy_dtype: Any) -> dtype:
    """The name here of a dtype of NumPy's.

    Raises: TypeError: there is none.
    """
    found = _DTYPES.get(numpy_dtype)
    if found is None:
        found = _DTYPES.get(np.dtype(numpy_dtype).newbyteorder("="))
    if found is None:
        raise TypeError(
            f"can't convert np.ndarray of type {numpy_dtype}. The only supported types are: "
            f"{', '.join(d.name for d in _DTYPES.values())}."
        )
    return found


_PYTHON = {builtins.bool: bool, builtins.int: int64, builtins.float: float64, complex: complex128}


def as_dtype(x: Any, name: str = "") -> dtype:
    """The dtype that the argument `dtype` of the function `name` stands for; Python's types too.

    Raises: TypeError: it stands for none.

    >>> as_dtype(builtins.float)
    torch.float64
    """
    if x.__class__ is dtype:
        return x
    found = _PYTHON.get(x) if isinstance(x, type) else None
    if isinstance(x, NamedDtype):
        raise TypeError(
            f"{name}(): there are no tensors of {x} here, which is a name to compare with. Use one "
            f"of {', '.join(map(str, _DTYPES.values()))}."
        )
    if found is None:
        raise TypeError(
            f"{name}(): argument 'dtype' must be torch.dtype, not {type(x).__name__}. Dtypes are "
            f"attributes of the module, for example torch.float32."
        )
    return found


# ---------------------------------------------------------------- the default dtype

_default = float32


def get_default_dtype() -> dtype:
    """The dtype of tensors made of Python floats.

    >>> get_default_dtype()
    torch.float32
    """
    return _default


def set_default_dtype(d: dtype) -> None:
    """Make tensors of Python floats have the dtype `d`.

    Raises: TypeError: `d` is not a floating dtype.
    """
    global _default
    if not (d.__class__ is dtype and d.is_floating_point):
        raise TypeError(f"only floating-point types are supported as the default type, found {d}")
    _default = d


# ---------------------------------------------------------------- promotion

_SCALARS: tuple[tuple[type, builtins.int], ...] = (
    (builtins.bool, 0),
    (np.bool, 0),
    (builtins.int, 1),
    (np.integer, 1),
    (builtins.float, 2),
    (np.floating, 2),
    (complex, 3),
    (np.complexfloating, 3),
)


def scalar_category(x: Any) -> builtins.int:
    """The category of a Python number, or of one of NumPy's, which counts as one.

    Raises: TypeError: it is no number.
    """
    for cls, category in _SCALARS:
        if isinstance(x, cls):
            return category
    raise TypeError(f"expected a Tensor or a number, found {type(x).__name__}")


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """The smallest dtype that both convert to; integers do not widen floats.

    Raises: TypeError: they are no dtypes.

    >>> promote_types(int64, float32), promote_types(uint8, int8)
    (torch.float32, torch.int16)
    """
    if type1 is type2 and type1.__class__ is dtype:
        return type1
    for i, d in ((1, type1), (2, type2)):
        if d.__class__ is not dtype:
            raise TypeError(
                f"promote_types(): argument 'type{i}' (position {i}) must be torch.dtype, not "
                f"{type(d).__name__}"
            )
    a, b = type1, type2
    if a.category < 2 <= b.category:
        return b
    if b.category < 2 <= a.category:
        return a
    if a.category == b.category == 2 and "bfloat16" in (a.name, b.name):
        return float32 if {a.name, b.name} == {"bfloat16", "float16"} else max(a, b, key=_size)
    if (a.category == 3 and b.category == 2) or (a.category == 2 and b.category == 3):
        return complex128 if 8 in (a.to_real().itemsize, b.to_real().itemsize) else complex64
    return of(np.promote_types(a.numpy, b.numpy))


def _size(d: dtype) -> builtins.int:
    return d.itemsize


def default_of(category: builtins.int) -> dtype:
    """The dtype of a Python number of this category."""
    return (bool, int64, _default, _default.to_complex())[category]


def result_type_of(operands: list[tuple[dtype | None, builtins.int, builtins.int]]) -> dtype:
    """The dtype of an operation on operands given as (dtype or None, category, number of axes).

    Operands with axes come first, then those without, then Python numbers: a lower one counts only
    if its category is higher.
    """
    result: dtype | None = None
    for wanted in (lambda d, n: d is not None and n, lambda d, n: d is not None and not n):
        level: dtype | None = None
        for d, _, n in operands:
            if wanted(d, n) and d is not None:
                level = d if level is None else promote_types(level, d)
        if level is not None and (result is None or level.category > result.category):
            result = level if result is None else _widened(result, level)
    highest = max((c for d, c, _ in operands if d is None), default=-1)
    if highest > (-1 if result is None else result.category):
        if result is not None and highest == 3:
            return promote_types(result if result.category == 2 else _default, complex64)
        result = default_of(highest)
    assert result is not None
    return result


def _widened(low: dtype, high: dtype) -> dtype:
    """The result where `high` is of a higher category than `low`, which has axes."""
    if high.category == 3 and low.category == 2:
        return low.to_complex() if low is not float16 else complex64
    return high


# ---------------------------------------------------------------- limits


class _Limits:
    """Limits are shown with six digits, and equal if they are of one dtype."""

    dtype: str
    _shown: tuple[str, ...]

    def __eq__(self, other: object) -> builtins.bool:
        return type(self) is type(other) and self.dtype == other.dtype

    def __hash__(self) -> builtins.int:
        return hash((type(self), self.dtype))

    def __repr__(self) -> str:
        limits = "".join(f"{name}={getattr(self, name):g}, " for name in self._shown)
        return f"{type(self).__name__}({limits}dtype={self.dtype})"


class finfo(_Limits):
    """The limits of a floating dtype; those of the parts of a complex one.

    Raises: TypeError: the dtype is one of integers.

    >>> finfo(float32).eps, finfo(float64).bits
    (1.1920928955078125e-07, 64)
    """

    _shown = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")

    def __init__(self, type: dtype | None = None) -> None:
        d = _default if type is None else type
        real = (d if isinstance(d, dtype) else as_dtype(d, "finfo")).to_real()
        if real.category < 2:
            raise TypeError(
                f"torch.finfo() requires a floating point input type, found {real}. Use "
                f"torch.iinfo to handle 'torch.finfo'"
            )
        ours = real.numpy.type.__module__ == "numpy"
        info: Any = np.finfo(real.numpy) if ours else _ml_dtypes.finfo(real.numpy)
        self.bits = builtins.int(info.bits)
        self.dtype = real.name
        self.eps = builtins.float(info.eps)
        self.max = builtins.float(info.max)
        self.min = builtins.float(info.min)
        self.tiny = self.smallest_normal = builtins.float(info.smallest_normal)
        self.resolution = 10.0 ** -builtins.int(info.nmant * log10(2))


class iinfo(_Limits):
    """The limits of an integer dtype.

    Raises: TypeError: the dtype is another one.

    >>> iinfo(int8)
    iinfo(min=-128, max=127, dtype=int8)
    """

    _shown = ("min", "max")

    def __init__(self, type: dtype) -> None:
        d = type if isinstance(type, dtype) else as_dtype(type, "iinfo")
        if d.category == 0:
            raise TypeError("torch.bool is not supported by torch.iinfo")
        if d.category != 1:
            raise TypeError(
                f"torch.iinfo() requires an integer input type, found {d}. Use torch.finfo to "
                f"handle 'torch.iinfo'"
            )
        info = np.iinfo(d.numpy)
        self.bits = builtins.int(info.bits)
        self.dtype = d.name
        self.max = builtins.int(info.max)
        self.min = builtins.int(info.min)


NAMES = [n for n, x in list(globals().items()) if x.__class__ is dtype and n[0] != "_"]
__all__ = [  # written out for type checkers
    "bool",
    "cdouble",
    "cfloat",
    "chalf",
    "complex32",
    "complex64",
    "complex128",
    "double",
    "dtype",
    "finfo",
    "float",
    "float16",
    "float32",
    "float64",
    "get_default_dtype",
    "half",
    "iinfo",
    "int",
    "int8",
    "int16",
    "int32",
    "int64",
    "long",
    "promote_types",
    "set_default_dtype",
    "short",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]
if "bfloat16" in globals():
    __all__ += ["bfloat16", *(n for n in globals() if n.startswith("float8"))]
