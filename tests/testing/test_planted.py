"""The kit catches every planted fault, and raises no false alarm without one."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
import samples
from hypothesis import given, settings
from hypothesis import strategies as st
from planted import PLANTED, Planted

from funcgrad.core import REGISTRY
from funcgrad.testing import check_all

SAMPLES = samples.collect()
# Whose derivative is not that of what they compute, on purpose.
CONSTANT = {"stop_gradient", "random_binomial", "random_log_gamma"}


def applied(prim: Any, params: dict[str, Any], args: tuple[Any, ...]) -> tuple[Any, list[Any]]:
    """The primitive as a function of its arrays, and those."""
    places = [i for i, x in enumerate(args) if isinstance(x, np.ndarray)]

    def f(*xs: Any) -> Any:
        full = list(args)
        for i, x in zip(places, xs, strict=True):
            full[i] = x
        return prim(*full, **params)

    f.__name__ = prim.name
    return f, [args[i] for i in places]


def is_caught(fault: Planted, seed: int) -> bool:
    f, args = applied(fault.prim, fault.params, fault.args)
    return not check_all(f, [np.array(x) for x in args], seed=seed).ok


@pytest.mark.parametrize("fault", PLANTED, ids=lambda fault: fault.what)
@pytest.mark.parametrize("seed", [0, 1])
def test_fault_is_caught(fault: Planted, seed: int) -> None:
    assert is_caught(fault, seed)


@pytest.mark.parametrize("fault", PLANTED, ids=lambda fault: fault.what)
def test_without_the_fault_there_is_no_alarm(fault: Planted) -> None:
    """So it is the fault that is caught, and not the operands."""
    f, args = applied(REGISTRY[fault.prim.name], fault.params, fault.args)
    report = check_all(f, [np.array(x) for x in args])
    assert report.ok, str(report)


def test_there_are_many_and_they_take_little_time() -> None:
    begin = time.perf_counter()
    assert all(is_caught(fault, 2) for fault in PLANTED)
    assert len(PLANTED) >= 40
    assert time.perf_counter() - begin < 60


@settings(max_examples=8 * settings().max_examples)
@given(st.data())
def test_no_false_alarm(data: Any) -> None:
    name = data.draw(st.sampled_from(sorted(SAMPLES.keys() - CONSTANT)), label="primitive")
    args, params = data.draw(SAMPLES[name], label="sample")
    f, arrays = applied(REGISTRY[name], params, args)
    if any(x.dtype.kind in "fc" for x in arrays):
        report = check_all(f, arrays, seed=data.draw(st.integers(0, 10**6), label="seed"))
        assert report.ok, str(report)
