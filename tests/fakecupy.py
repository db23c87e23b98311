"""A stand-in for CuPy over NumPy: CuPy's rules without a GPU.

What NumPy allows and CuPy does not is an error here: a NumPy array among the operands, the implicit
conversion to a NumPy array, an array as a Python index, a name that CuPy lacks (what CuPy 14.2 has
is recorded in `data/cupy_names.json`), a keyword that its functions do not take. Reductions and
indexing give 0-d arrays, never scalars; integer arrays used as indices wrap around; what LAPACK
cannot factor is NaN.

Reading a number back stops the device, so inside `no_sync` it is an error too. Kernels of CUDA are
compiled for the host by a C++ compiler.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import scipy.special


def _words(text: str) -> list[str]:
    return text.split()


NAMES = frozenset(json.loads((Path(__file__).parent / "data" / "cupy_names.json").read_text()))
STRIDE_TRICKS = frozenset({"as_strided", "sliding_window_view"})
SPECIAL = frozenset(
    _words(
        """beta betainc betaincinv betaln binom boxcox boxcox1p cbrt cosm1 digamma ellipj ellipk
        ellipkm1 entr erf erfc erfcinv erfcx erfinv exp1 expi expit expn exprel gamma gammainc
        gammaincc gammainccinv gammaincinv gammaln i0 i0e i1 i1e inv_boxcox inv_boxcox1p j0 j1 k0
        k0e k1 k1e kl_div log1p log_expit log_ndtr log_softmax loggamma logit logsumexp
        multigammaln ndtr ndtri poch polygamma psi rel_entr rgamma sinc softmax spherical_yn
        xlog1py xlogy y0 y1 zeta"""
    )
)

# Keywords of NumPy that CuPy's functions of the same name do not have.
REFUSED = frozenset({"where", "initial", "subok", "like", "stable", "signature"})
TAKES_WHERE = frozenset({"copyto"})
UFUNC_METHODS = {
    "reduce": {"add", "multiply"},
    "accumulate": {"add", "multiply"},
    "reduceat": {"add"},
    "at": {"add", "subtract", "maximum", "minimum", "bitwise_and", "bitwise_or", "bitwise_xor"},
}
MAKES_ARRAYS = frozenset({"array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray"})
NAN_WHERE_SINGULAR = frozenset({"cholesky", "inv", "solve"})
GIVES_0D = frozenset({"allclose", "array_equal", "array_equiv", "count_nonzero"})

METHODS = _words(
    """all any argmax argmin argpartition argsort astype choose clip compress conj conjugate copy
    cumprod cumsum diagonal dot fill flatten max mean min nonzero partition prod put ravel repeat
    reshape round searchsorted sort squeeze std sum swapaxes take trace transpose var view"""
)
PROPERTIES = _words("T mT real imag")
FACTS = _words("shape dtype ndim size nbytes itemsize strides")
BINARY = _words("add sub mul truediv floordiv mod pow matmul and or xor lshift rshift")
COMPARISONS = _words("lt le gt ge eq ne")
UNARY = _words("neg pos abs invert")


class DeviceSynchronized(RuntimeError):
    """A number was read back where the device must not be stopped."""


_sync_allowed = True


@contextlib.contextmanager
def no_sync() -> Iterator[None]:
    """Make reading a number back an error, as ``cupyx.allow_synchronize(False)`` does."""
    global _sync_allowed
    before, _sync_allowed = _sync_allowed, False
    try:
        yield
    finally:
        _sync_allowed = before


def _read_back(x: ndarray) -> Any:
    if not _sync_allowed:
        raise DeviceSynchronized("a value is read back from the device")
    return x._host


# ---------------------------------------------------------------- calling NumPy underneath


def _to_host(value: Any) -> Any:
    if isinstance(value, ndarray):
        return value._host
    if isinstance(value, np.ndarray):
        raise TypeError(f"Unsupported type {type(value)}")
    if isinstance(value, tuple | list) and not hasattr(value, "_fields"):
        return type(value)(map(_to_host, value))
    return value


def _is_foreign(value: Any) -> bool:
    """Whether CuPy leaves an operation with this operand to the operand."""
    known = ndarray | np.ndarray | np.generic
    return hasattr(value, "__array_ufunc__") and not isinstance(value, known)


def _to_device(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return ndarray(np.asarray(value))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(_to_device, value))
    if isinstance(value, tuple | list):
        return type(value)(map(_to_device, value))
    return value


def _call(name: str, f: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    bad = REFUSED & kwargs.keys()
    if bad and name not in TAKES_WHERE:
        raise TypeError(f"{name}() got an unexpected keyword argument {bad.pop()!r}")
    if kwargs.get("kind", "stable") not in (None, "stable"):
        raise ValueError("kind can only be None or 'stable'")
    host = _to_host(tuple(args))
    try:
        out = f(*host, **{k: _to_host(v) for k, v in kwargs.items()})
    except np.linalg.LinAlgError:
        if name not in NAN_WHERE_SINGULAR:
            raise
        out = np.full_like(host[-1], np.nan)
    return ndarray(np.asarray(out)) if name in GIVES_0D else _to_device(out)


def _method(name: str) -> Callable[..., Any]:
    def method(self: ndarray, *args: Any, **kwargs: Any) -> Any:
        return _call(name, getattr(self._host, name), args, kwargs)

    return method


def _operator(name: str) -> Callable[..., Any]:
    def operator(self: ndarray, *others: Any) -> Any:
        if any(isinstance(x, list | tuple) or _is_foreign(x) for x in others):
            return NotImplemented
        return _call(name, getattr(self._host, name), others, {})

    return operator


def _in_place(name: str) -> Callable[..., Any]:
    def operator(self: ndarray, other: Any) -> ndarray:
        getattr(self._host, name)(_to_host(other))
        return self

    return operator


class ndarray:
    """CuPy's array class, by its name."""

    __slots__ = ("__weakref__", "_host")
    __array_priority__ = 100
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, host: np.ndarray) -> None:
        self._host = host

    @property
    def flags(self) -> Any:
        flags = self._host.flags
        return SimpleNamespace(c_contiguous=flags.c_contiguous, f_contiguous=flags.f_contiguous)

    @property
    def base(self) -> ndarray | None:
        return None if self._host.base is None else ndarray(np.asarray(self._host.base))

    @property
    def device(self) -> Any:
        return SimpleNamespace(id=0)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Use `.get()`.")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if ufunc.__name__ not in NAMES | SPECIAL or any(map(_is_foreign, inputs)):
            return NotImplemented
        found = _Ufunc(ufunc)
        if "out" in kwargs:
            (kwargs["out"],) = kwargs["out"]
        return (found if method == "__call__" else getattr(found, method))(*inputs, **kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        name = func.__name__
        if func.__module__ not in ("numpy", "numpy.lib.stride_tricks"):
            name = f"{func.__module__.removeprefix('numpy.')}.{name}"
        if name not in NAMES | STRIDE_TRICKS or not set(types) <= {ndarray, np.ndarray}:
            return NotImplemented
        return _call(func.__name__, func, args, kwargs)

    def get(self) -> np.ndarray:
        return _read_back(self).copy()

    def item(self, *index: int) -> Any:
        return _read_back(self).item(*index)

    def tolist(self) -> Any:
        return _read_back(self).tolist()

    def __float__(self) -> float:
        return float(_read_back(self))

    def __int__(self) -> int:
        return int(_read_back(self))

    def __complex__(self) -> complex:
        return complex(_read_back(self))

    def __bool__(self) -> bool:
        return bool(_read_back(self))

    def __repr__(self) -> str:
        return repr(self._host)

    def __len__(self) -> int:
        return len(self._host)

    def __iter__(self) -> Iterator[ndarray]:
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))

    def _index(self, index: Any) -> Any:
        """The index for NumPy, with the integers of index arrays wrapped into range."""
        found: list[Any] = []
        axis = 0
        entries = index if isinstance(index, tuple) else (index,)
        for k, entry in enumerate(entries):
            if isinstance(entry, list | np.ndarray) and np.size(entry):
                entry = ndarray(np.asarray(entry))  # CuPy uploads these
            if isinstance(entry, ndarray):
                entry = entry._host
                if entry.dtype.kind in "iu" and entry.ndim:
                    entry = entry % max(1, self.shape[axis])
            found.append(entry)
            if entry is Ellipsis:
                rest = sum(e is not None for e in entries[k + 1 :])
                axis = self.ndim - rest
            elif entry is not None:
                axis += entry.ndim if getattr(entry, "dtype", None) == np.bool_ else 1
        return tuple(found)

    def __getitem__(self, index: Any) -> ndarray:
        return ndarray(np.asarray(self._host[self._index(index)]))

    def __setitem__(self, index: Any, value: Any) -> None:
        if not self._host.flags.writeable:  # NumPy's diagonal; CuPy has no such flag
            self._host.flags.writeable = True
        self._host[self._index(index)] = _to_host(value)


ndarray.__module__ = "cupy"
for _name in FACTS:
    setattr(ndarray, _name, property(lambda self, name=_name: getattr(self._host, name)))
for _name in PROPERTIES:
    setattr(ndarray, _name, property(lambda self, name=_name: ndarray(getattr(self._host, name))))
for _name in METHODS:
    setattr(ndarray, _name, _method(_name))
for _name in BINARY:
    setattr(ndarray, f"__{_name}__", _operator(f"__{_name}__"))
    setattr(ndarray, f"__r{_name}__", _operator(f"__r{_name}__"))
    setattr(ndarray, f"__i{_name}__", _in_place(f"__i{_name}__"))
for _name in COMPARISONS + UNARY:
    setattr(ndarray, f"__{_name}__", _operator(f"__{_name}__"))


# ---------------------------------------------------------------- kernels

SHIM = Path(__file__).parent / "compile" / "cuda_shim.hpp"
_KERNEL = re.compile(r'extern "C" __global__ void (?:__launch_bounds__\(\d+\) )?(\w+)')
_ENTRY = """
extern "C" int host_{0}(long grid, long block, int backwards, void **xs) {{
  return shim::call({0}, grid, block, backwards, xs);
}}
"""


def host_compiler() -> str | None:
    """The C++ compiler that kernels are compiled by."""
    return shutil.which("c++") if sys.platform == "linux" else None


@functools.cache
def _library(code: str) -> ctypes.CDLL:
    """A source of kernels as a library of the host, with an entry for each."""
    entries = "".join(map(_ENTRY.format, _KERNEL.findall(code)))
    with tempfile.TemporaryDirectory() as folder:
        made = f"{folder}/kernels.so"
        flags = ["-std=c++17", "-O1", "-ffp-contract=off", "-w", "-shared", "-fPIC"]
        subprocess.run(
            [str(host_compiler()), *flags, "-include", str(SHIM), "-x", "c++", "-", "-o", made],
            input=(code + entries).encode(),
            check=True,
        )
        return ctypes.CDLL(made)


class RawModule:
    """Kernels of CUDA, compiled for the host; `backwards`: threads and blocks run in that order."""

    backwards = False

    def __init__(self, *, code: str, options: tuple[str, ...] = ()) -> None:
        self.code = code
        self.options = options

    def get_function(self, name: str) -> Callable[..., None]:
        entry = getattr(_library(self.code), f"host_{name}")
        entry.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_int, ctypes.c_void_p]

        def kernel(grid: tuple[int, ...], block: tuple[int, ...], args: tuple[Any, ...]) -> None:
            values = [np.uintp(a._host.ctypes.data) if isinstance(a, ndarray) else a for a in args]
            if not all(isinstance(v, np.generic) for v in values):
                raise TypeError("arguments of kernels are arrays and NumPy's numbers")
            held = [np.array(v) for v in values]
            places = (ctypes.c_void_p * len(held))(*[h.ctypes.data for h in held])
            if entry(grid[0], block[0], self.backwards, places):
                raise RuntimeError(f"{name}: threads wait for threads that have ended")

        return kernel


# ---------------------------------------------------------------- modules


class _Ufunc:
    """A ufunc with the methods that CuPy implements."""

    def __init__(self, ufunc: Any) -> None:
        self.ufunc = ufunc
        self.__name__ = ufunc.__name__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if any(isinstance(x, list | tuple) for x in args):
            raise TypeError(f"Unsupported type {list}")
        return _call(self.__name__, self.ufunc, args, kwargs)

    def __getattr__(self, method: str) -> Any:
        if self.__name__ not in UFUNC_METHODS.get(method, {self.__name__}):
            raise NotImplementedError(f"`{self.__name__}.{method}` is not supported yet")
        return functools.partial(_call_partly, self.__name__, getattr(self.ufunc, method))


def _call_partly(name: str, f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return _call(name, f, args, kwargs)


def _module(name: str, source: Any, names: frozenset[str], **own: Any) -> ModuleType:
    """A module with those of the source's names that CuPy has."""
    module = ModuleType(name)

    def find(attribute: str) -> Any:
        if attribute not in names:
            raise AttributeError(f"module {name!r} has no attribute {attribute!r}")
        found = getattr(source, attribute)
        if isinstance(found, np.ufunc):
            return _Ufunc(found)
        if isinstance(found, type) or not callable(found):
            return found
        return functools.partial(_call_partly, attribute, found)

    module.__getattr__ = find  # type: ignore[method-assign]
    module.__dict__.update(own)
    return module


def _within(prefix: str) -> frozenset[str]:
    return frozenset(n.removeprefix(prefix) for n in NAMES if n.startswith(prefix))


def _array(x: Any, dtype: Any = None, copy: bool | None = True, order: str = "K") -> ndarray:
    """``cupy.array``: the one explicit way in for NumPy arrays and lists."""
    host = x._host if isinstance(x, ndarray) else x
    made = np.array(host, dtype=dtype, copy=copy or None, order=order)  # type: ignore[call-overload]
    return x if isinstance(x, ndarray) and made is host else ndarray(made)


def _asarray(x: Any, dtype: Any = None, order: str = "K") -> ndarray:
    return _array(x, dtype, copy=None, order=order)


def modules() -> dict[str, ModuleType]:
    """What `import cupy` and `import cupyx` put into `sys.modules`."""
    linalg = _module("cupy.linalg", np.linalg, _within("linalg."))
    fft = _module("cupy.fft", np.fft, _within("fft."))
    tricks = _module("cupy.lib.stride_tricks", np.lib.stride_tricks, STRIDE_TRICKS)
    cupy = _module(
        "cupy",
        np,
        NAMES - MAKES_ARRAYS,
        __version__="14.2.0+fake",
        ndarray=ndarray,
        RawModule=RawModule,
        array=_array,
        asarray=_asarray,
        asanyarray=_asarray,
        ascontiguousarray=lambda x, dtype=None: _asarray(x, dtype, order="C"),
        asfortranarray=lambda x, dtype=None: _asarray(x, dtype, order="F"),
        asnumpy=lambda x: x.get() if isinstance(x, ndarray) else np.asarray(x),
        linalg=linalg,
        fft=fft,
        lib=SimpleNamespace(stride_tricks=tricks),
    )
    special = _module("cupyx.scipy.special", scipy.special, SPECIAL)
    scipy_like = _module("cupyx.scipy", None, frozenset(), special=special, __path__=[])
    cupyx = _module("cupyx", None, frozenset(), scipy=scipy_like, __path__=[])
    found = (cupy, linalg, fft, tricks, special, scipy_like, cupyx)
    return {module.__name__: module for module in found}


@contextlib.contextmanager
def installed() -> Iterator[ModuleType]:
    """Make ``import cupy`` find the stand-in for the time of the block."""
    mine = modules()
    before = {name: sys.modules.get(name) for name in mine}
    sys.modules.update(mine)
    try:
        yield mine["cupy"]
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module
