"""What whole libraries import of JAX's private modules though they hardly use it; no more.

Where JAX has a module, there is the public one here that has its names, or an empty namespace,
whose names raise AttributeError when something asks for them.
"""

from types import SimpleNamespace

from ... import flatten_util
from .. import core
from . import dtypes, traceback_util

__all__ = ["compiler", "core", "dtypes", "flatten_util", "traceback_util"]

compiler = SimpleNamespace()
