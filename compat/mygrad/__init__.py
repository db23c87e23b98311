"""MyGrad's names over tensors of `compat`: for code that says ``import mygrad as mg``; see `install`.

Layer 8½. There is no derivative here: a `Tensor` holds a tensor of `compat`, and functions are NumPy's
and PyTorch's on these. What is MyGrad's are constants, gradients of everything that leads to a result,
writes that leave what was computed before as it was, and arrays that are read-only while a graph
needs them.

>>> import compat.mygrad as mg
>>> x = mg.tensor([1.0, 2.0, 3.0])
>>> y = x * x
>>> x[0] = 10.0
>>> (y + x).sum().backward()
>>> x.grad, y.grad
(array([1., 1., 1.]), array([1., 1., 1.]))
"""

import typing as _typing
from importlib import import_module as _import_module

import numpy as _np

from funcgrad.stand_in import borrow as _borrow
from funcgrad.stand_in import give_back as _give_back
from funcgrad.stand_in import install as _install_stand_in

from . import _arrays, _creation, _math, errors, linalg, operation_base, random, tensor_base, typing
from ._creation import load, save
from ._function import ufunc
from ._memory import *
from ._windows import sliding_window_view
from .tensor_base import Tensor, asarray, astensor, tensor

__version__ = "2.5.0"  # of MyGrad, whose names these are

execute_op = Tensor._op

_DTYPES = [
    "bool_",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "intp",
    "uintp",
    "float16",
    "float32",
    "float64",
    "half",
    "single",
    "double",
    "longdouble",
]
_NUMBERS = ["e", "euler_gamma", "inf", "nan", "newaxis", "pi"]
_PLAIN = [*tensor_base.QUESTIONS, *tensor_base.STEPPED, *tensor_base.OTHERS]

globals().update({name: getattr(_np, name) for name in (*_DTYPES, *_NUMBERS, *_PLAIN)})
globals().update({**_math.NAMES, **_arrays.NAMES, **_creation.NAMES})

# These are loaded when they are looked at: not all programs need them.
_LATE = ("computational_graph", "nnet", "ufuncs")

_install_stand_in(__name__, "compat")


def install() -> None:
    """``import mygrad`` is this module from here on, in the whole process.

    Raises: ArgumentError: MyGrad itself has been imported already.

        import compat.mygrad

        compat.mygrad.install()
        import mygrad as mg
        from mygrad.nnet.losses import softmax_crossentropy
    """
    _borrow("mygrad", __name__)


def remove() -> None:
    """Undo `install`."""
    _give_back("mygrad", __name__)


if _typing.TYPE_CHECKING:
    from . import computational_graph, nnet, ufuncs

    def __getattr__(name: str) -> _typing.Any: ...
else:

    def __getattr__(name):
        if name in _LATE:
            return _import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *_LATE})
