"""funcgrad: derivatives of numerical Python. Arrays in, arrays out.

>>> import numpy as np
>>> import funcgrad
>>> funcgrad.grad(lambda x: np.sum(np.sin(x) ** 2))(np.array([0.0, 1.0])).round(6).tolist()
[0.0, 0.909297]

The subpackages (`funcgrad.numpy`, `random`, `scipy`, ...) are loaded when they are first looked at.
"""

import typing as _typing
from importlib import import_module as _import_module

from .core import Array
from .device import block_until_ready
from .jaxpr import check_jaxpr, eval_jaxpr
from .memory import keep_freed_memory as _keep_freed_memory
from .transforms.callbacks import io_callback, pure_callback
from .transforms.checkpoint import checkpoint
from .transforms.checkpoint import checkpoint as remat
from .transforms.custom import custom_jvp, custom_rule, custom_vjp
from .transforms.derivatives import (
    elementwise_grad,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jacrev,
    stop_gradient,
    value_and_grad,
)
from .transforms.jvp import jvp
from .transforms.linearize import linear_transpose, linearize
from .transforms.strong import strong_zeros
from .transforms.trace import ShapeDtypeStruct, eval_shape, make_jaxpr
from .transforms.vjp import vjp
from .transforms.vmap import vmap

_keep_freed_memory()

__version__ = "0.1.0"

__all__ = [
    "Array",
    "ShapeDtypeStruct",
    "block_until_ready",
    "check_jaxpr",
    "checkpoint",
    "config",
    "custom_jvp",
    "custom_rule",
    "custom_vjp",
    "disable_jit",
    "elementwise_grad",
    "eval_jaxpr",
    "eval_shape",
    "grad",
    "hessian",
    "hvp",
    "io_callback",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jit",
    "jvp",
    "linear_transpose",
    "linearize",
    "make_jaxpr",
    "pure_callback",
    "remat",
    "stop_gradient",
    "strong_zeros",
    "value_and_grad",
    "vjp",
    "vmap",
]

_SUBPACKAGES = (
    *("datasets", "debug", "flatten_util", "image", "jax", "lax", "nn", "numpy"),
    *("optim", "random", "scipy", "testing", "tree", "tree_util", "viz"),
)

_LATE = {
    "config": "compile.config",  # an import does not wait for it
    "disable_jit": "compile.config",
    "jit": "compile.jit",
}

if _typing.TYPE_CHECKING:
    from . import datasets as datasets
    from . import debug as debug
    from . import errors as errors
    from . import flatten_util as flatten_util
    from . import image as image
    from . import jax as jax
    from . import lax as lax
    from . import nn as nn
    from . import numpy as numpy
    from . import ops as ops
    from . import optim as optim
    from . import random as random
    from . import scipy as scipy
    from . import testing as testing
    from . import tree as tree
    from . import tree_util as tree_util
    from . import viz as viz
    from .compile.config import config as config
    from .compile.config import disable_jit as disable_jit
    from .compile.jit import jit as jit
else:

    def __getattr__(name):
        if name in _SUBPACKAGES:
            return _import_module(f"{__name__}.{name}")
        if name in _LATE:
            found = getattr(_import_module(f"{__name__}.{_LATE[name]}"), name)
            globals()[name] = found
            return found
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_SUBPACKAGES, *_LATE})
