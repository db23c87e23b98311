"""Threads that inherit the context of a transform record in one trace: derivatives are as without."""

from __future__ import annotations

import asyncio
import contextvars
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import funcgrad
from funcgrad.errors import EscapedTracerError

X = np.linspace(0.5, 1.5, 6)


@pytest.fixture(autouse=True)
def _many_switches() -> Iterator[None]:
    """Threads take turns after every few operations instead of every 5 ms."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def term(x: Any, i: int) -> Any:
    y = x[i]
    for k in range(20):
        y = np.sin(y) * x[i] + np.float64(0.01 * k)
    return y


def alone(x: Any) -> Any:
    return sum(term(x, i) for i in range(len(X)))


def in_threads(x: Any) -> Any:
    found: list[Any] = [None] * len(X)

    def work(i: int) -> None:
        found[i] = term(x, i)

    threads = [
        threading.Thread(target=contextvars.copy_context().run, args=(work, i))
        for i in range(len(X))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(found)


def in_asyncio(x: Any) -> Any:
    async def run() -> Any:
        return await asyncio.gather(*[asyncio.to_thread(term, x, i) for i in range(len(X))])

    return sum(asyncio.run(run()))


TRANSFORMS = {
    "grad": funcgrad.grad,
    "jacfwd": funcgrad.jacfwd,
    "jacrev": funcgrad.jacrev,
    "hessian": funcgrad.hessian,
    "jit of grad": lambda f: funcgrad.jit(funcgrad.grad(f)),
    "jvp": lambda f: lambda x: funcgrad.jvp(f, (x,), (np.cos(x),))[1],
}


@pytest.mark.parametrize("f", [in_threads, in_asyncio])
@pytest.mark.parametrize("name", TRANSFORMS)
def test_threads_with_the_context_record_as_one(name: str, f: Any) -> None:
    transform = TRANSFORMS[name]
    expected = transform(alone)(X)
    for _ in range(6):
        np.testing.assert_allclose(transform(f)(X), expected, rtol=1e-10)


def test_threads_without_it_raise_and_say_what_they_need() -> None:
    errors: list[EscapedTracerError] = []

    def f(x: Any) -> Any:
        def work() -> None:
            with pytest.raises(EscapedTracerError) as error:
                term(x, 0)
            errors.append(error.value)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        return x[0]

    funcgrad.grad(f)(X)
    assert "contextvars.copy_context().run" in str(errors[0])
