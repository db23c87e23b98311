"""Shared by all tests: how much Hypothesis tries, and the stand-in for CuPy.

`HYPOTHESIS_PROFILE` chooses: `ci` (the default: few examples, the same in every run), `dev` (new
ones in every run), `nightly` (many).
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

# Several workers whose BLAS waits for each other's threads take five times as long.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import fakecupy
import pytest
from hypothesis import HealthCheck, settings

from funcgrad import backend
from funcgrad.compile import decisions

QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
settings.register_profile(
    "ci",
    max_examples=20,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=QUIET,
)
settings.register_profile("dev", max_examples=25, deadline=None, suppress_health_check=QUIET)
settings.register_profile("nightly", max_examples=400, deadline=None, suppress_health_check=QUIET)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


# What one test's programs decided is nothing to the others.
decisions.cache_folder = lambda: Path(os.devnull)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Garbage is not looked for meanwhile, nor ever among the million objects found: tests, modules."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session")
def cupy() -> Iterator[ModuleType]:
    """The stand-in for CuPy, importable as `cupy`, known to the backend while it is in use."""
    with fakecupy.installed() as module:
        yield module
    backend.NAMESPACES.pop(fakecupy.ndarray, None)
