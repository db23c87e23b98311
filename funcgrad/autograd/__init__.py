"""HIPS autograd's names: for code that says ``from autograd import grad``; see `install`.

Layer 5½. What autograd calls differently than `funcgrad` does: derivatives by ``argnum``, functions
with rules given by `defvjp`, vector spaces, its checks and optimizers. Arrays are NumPy's with both.
"""

import typing as _typing
from importlib import import_module as _import_module

from ..stand_in import borrow as _borrow
from ..stand_in import give_back as _give_back
from ..stand_in import install as _install_stand_in
from . import builtins, core, differential_operators, extend, numpy, tracer, util, wrap_util
from .builtins import dict, isinstance, list, tuple, type
from .differential_operators import (
    checkpoint,
    deriv,
    elementwise_grad,
    grad,
    grad_and_aux,
    grad_named,
    hessian,
    hessian_tensor_product,
    hessian_vector_product,
    holomorphic_grad,
    jacobian,
    make_ggnvp,
    make_hvp,
    make_jvp,
    make_vjp,
    multigrad_dict,
    tensor_jacobian_product,
    value_and_grad,
    vector_jacobian_product,
)
from .extend import primitive

__all__ = [
    "builtins",
    "checkpoint",
    "core",
    "deriv",
    "dict",
    "differential_operators",
    "elementwise_grad",
    "extend",
    "grad",
    "grad_and_aux",
    "grad_named",
    "hessian",
    "hessian_tensor_product",
    "hessian_vector_product",
    "holomorphic_grad",
    "install",
    "isinstance",
    "jacobian",
    "list",
    "make_ggnvp",
    "make_hvp",
    "make_jvp",
    "make_vjp",
    "misc",
    "multigrad_dict",
    "numpy",
    "primitive",
    "remove",
    "scipy",
    "tensor_jacobian_product",
    "test_util",
    "tracer",
    "tuple",
    "type",
    "util",
    "value_and_grad",
    "vector_jacobian_product",
    "wrap_util",
]

__version__ = "1.9.1"  # of autograd, whose names these are

# These are loaded when they are looked at: not all programs need them, and they take a while.
_LATE = ("misc", "scipy", "test_util")

_install_stand_in(__name__, "funcgrad")


def install() -> None:
    """``import autograd`` is this module from here on, in the whole process.

    Raises: ArgumentError: autograd itself has been imported already.

        import funcgrad.autograd

        funcgrad.autograd.install()
        import autograd.numpy as np
        from autograd import grad

        grad(np.tanh)(0.5)  # np.float64(0.786...)
    """
    _borrow("autograd", __name__)


def remove() -> None:
    """Undo `install`."""
    _give_back("autograd", __name__)


if _typing.TYPE_CHECKING:
    from . import misc, scipy, test_util
else:

    def __getattr__(name):
        if name in _LATE:
            return _import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *_LATE})
