"""What whole libraries import of JAX's private modules though they hardly use it; no more.

Where JAX has a module, there is the public one here that has its names, or an empty namespace,
whose names raise AttributeError when something asks for them.
"""

from types import SimpleNamespace

from ... import flatten_util
from ...ops.select import stop_gradient
from .. import api_util, core
from ..devices import effects_barrier
from ..errors import JaxRuntimeError
from . import checkify, dtypes, numpy, state, traceback_util, tree_util

__all__ = [
    "ad_util",
    "api_util",
    "checkify",
    "compiler",
    "core",
    "dispatch",
    "dtypes",
    "flatten_util",
    "lib",
    "numpy",
    "state",
    "traceback_util",
    "tree_util",
]

ad_util = SimpleNamespace(stop_gradient_p=stop_gradient)
compiler = SimpleNamespace()
dispatch = SimpleNamespace(wait_for_tokens=effects_barrier)
lib = SimpleNamespace(xla_client=SimpleNamespace(XlaRuntimeError=JaxRuntimeError))
