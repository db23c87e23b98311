"""JAX's names: ``import funcgrad.jax as jax``, or `install` where imports cannot be changed.

Layer 5½. All of `funcgrad`, and what code that was written for JAX asks for beside it: devices, of
which there is one unless CuPy is there, settings that are what holds here anyway, other names for
errors and types. Dtypes are NumPy's, float64 unless told otherwise.
"""

import typing as _typing

import funcgrad as _funcgrad

from ..core import aval_of as typeof
from ..errors import ArgumentError as _ArgumentError
from ..random.keys import Made as _MadeKeys
from ..stand_in import borrow as _borrow
from ..stand_in import give_back as _give_back
from ..stand_in import install as _install_stand_in
from ..transforms.loops import Loop as _Loop
from . import (
    _jaxlib,
    ad_checkpoint,
    api_util,
    checkpoint_policies,
    core,
    custom_batching,
    custom_derivatives,
    dlpack,
    dtypes,
    errors,
    example_libraries,
    experimental,
    extend,
    interpreters,
    ops,
    profiler,
    scipy,
    sharding,
    stages,
    test_util,
    typing,
    version,
)
from ._absent import absent as _absent
from ._arrays import set_attributes as _set_attributes
from ._arrays import take_attributes as _take_attributes
from ._nodes import require_registration as _require_registration
from .custom_derivatives import closure_convert, custom_gradient, custom_jvp, custom_vjp
from .devices import (
    Device,
    clear_caches,
    default_backend,
    device_count,
    device_get,
    device_put,
    devices,
    effects_barrier,
    local_device_count,
    local_devices,
    process_count,
    process_index,
)
from .dtypes import float0
from .programs import checkpoint, jit, make_jaxpr, pmap, remat, shard_map, vmap
from .settings import (
    check_tracer_leaks,
    checking_leaks,
    config,
    debug_infs,
    debug_nans,
    default_device,
    default_matmul_precision,
    enable_x64,
    ensure_compile_time_eval,
    log_compiles,
    named_call,
    named_scope,
    numpy_dtype_promotion,
    numpy_rank_promotion,
    transfer_guard,
)
from .sharding import NamedSharding, make_mesh
from .sharding import PartitionSpec as P
from .version import __version__, __version_info__

__all__ = [
    "Device",
    "NamedSharding",
    "P",
    "Ref",
    "__version__",
    "__version_info__",
    "ad_checkpoint",
    "api_util",
    "check_tracer_leaks",
    "checking_leaks",
    "checkpoint",
    "checkpoint_policies",
    "clear_caches",
    "closure_convert",
    "config",
    "core",
    "custom_batching",
    "custom_derivatives",
    "custom_gradient",
    "custom_jvp",
    "custom_vjp",
    "debug_infs",
    "debug_nans",
    "default_backend",
    "default_device",
    "default_matmul_precision",
    "device_count",
    "device_get",
    "device_put",
    "devices",
    "dlpack",
    "dtypes",
    "effects_barrier",
    "enable_x64",
    "ensure_compile_time_eval",
    "errors",
    "example_libraries",
    "experimental",
    "extend",
    "float0",
    "install",
    "interpreters",
    "jit",
    "local_device_count",
    "local_devices",
    "log_compiles",
    "make_jaxpr",
    "make_mesh",
    "named_call",
    "named_scope",
    "new_ref",
    "numpy_dtype_promotion",
    "numpy_rank_promotion",
    "ops",
    "pmap",
    "process_count",
    "process_index",
    "profiler",
    "remat",
    "remove",
    "scipy",
    "shard_map",
    "sharding",
    "stages",
    "test_util",
    "transfer_guard",
    "typeof",
    "typing",
    "version",
    "vmap",
]

Ref = _absent("Ref", "arrays can be written into")
new_ref = _absent("new_ref", "arrays can be written into")

_install_stand_in(__name__, _funcgrad.__name__)
_install_stand_in(_jaxlib.__name__)
_BORROWED = {"jax": __name__, "jaxlib": _jaxlib.__name__}


def install() -> None:
    """``import jax`` is this module from here on, and NumPy's arrays have ``x.at[i].set(y)``.

    ``import jaxlib`` finds types of devices and errors. Arrays have `block_until_ready`, `aval`,
    `weak_type`, `devices` and `ptp`, reductions (``x.sum(where=None)``) that take None for no mask,
    and an `argsort` that is stable.
    Indices may be traced, and in modules that have imported jax, or one of their package's that has,
    ``x += y`` and ``x.sort()`` make new arrays and leave other names of x alone. Dataclasses are
    nodes of trees only if they have been registered. A body of `lax.scan` runs once, on traced
    values: flax and others count what they draw.
    Programs can be read by JAX's names (``eqn.primitive``, ``lax.exp_p``), as interpreters do.
    All this holds for the whole process, and takes CPython.

    Raises: ArgumentError: JAX itself has been imported already, or this is not CPython.

        import funcgrad.jax

        funcgrad.jax.install()
        import jax.numpy as jnp

        jnp.zeros(3).at[1].add(2.0).block_until_ready()  # array([0., 2., 0.])
    """
    try:
        for name, package in _BORROWED.items():
            _borrow(name, package)
        _set_attributes()
    except _ArgumentError:
        _give_all_back()
        raise
    _require_registration(True)
    _Loop.traced_once = True
    _MadeKeys.elements = True


def _give_all_back() -> bool:
    return sum(_give_back(name, package) for name, package in _BORROWED.items()) > 0


def remove() -> None:
    """Undo `install`."""
    if _give_all_back():
        _take_attributes()
        _require_registration(False)
        _Loop.traced_once = False
        _MadeKeys.elements = False


if _typing.TYPE_CHECKING:
    from funcgrad import Array as Array
    from funcgrad import ShapeDtypeStruct as ShapeDtypeStruct
    from funcgrad import block_until_ready as block_until_ready
    from funcgrad import check_jaxpr as check_jaxpr
    from funcgrad import custom_rule as custom_rule
    from funcgrad import debug as debug
    from funcgrad import disable_jit as disable_jit
    from funcgrad import elementwise_grad as elementwise_grad
    from funcgrad import eval_jaxpr as eval_jaxpr
    from funcgrad import eval_shape as eval_shape
    from funcgrad import flatten_util as flatten_util
    from funcgrad import grad as grad
    from funcgrad import hessian as hessian
    from funcgrad import hvp as hvp
    from funcgrad import image as image
    from funcgrad import io_callback as io_callback
    from funcgrad import jacfwd as jacfwd
    from funcgrad import jacobian as jacobian
    from funcgrad import jacrev as jacrev
    from funcgrad import jvp as jvp
    from funcgrad import lax as lax
    from funcgrad import linear_transpose as linear_transpose
    from funcgrad import linearize as linearize
    from funcgrad import nn as nn
    from funcgrad import numpy as numpy
    from funcgrad import pure_callback as pure_callback
    from funcgrad import random as random
    from funcgrad import stop_gradient as stop_gradient
    from funcgrad import strong_zeros as strong_zeros
    from funcgrad import tree as tree
    from funcgrad import tree_util as tree_util
    from funcgrad import value_and_grad as value_and_grad
    from funcgrad import vjp as vjp
else:

    def __getattr__(name):
        return getattr(_funcgrad, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_funcgrad)})
