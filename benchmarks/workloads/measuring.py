"""The contenders of a workload: made, checked against each other and timed in turn."""

from __future__ import annotations

import gc
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from _timing import calls_per_batch, seconds_per_call

import funcgrad as fg

from .base import Workload, leaves_of, map_tree, torch_transforms

NUMPY_CODE = "jit, NumPy code"
C_CODE = "jit, C code"
EAGER = "no jit"
OURS = (NUMPY_CODE, C_CODE, EAGER)
BY_HAND = "NumPy by hand"
HIPS = "HIPS autograd"
TORCH = "PyTorch eager"
TORCH_FUNC = "torch.func"
TORCH_COMPILE = "torch.compile"
JAX = "JAX jit"
PEERS = (HIPS, TORCH, TORCH_FUNC, TORCH_COMPILE, JAX)
FUNCTION = "its function"  # what is differentiated, compiled by us as the gradient is

CODES = {NUMPY_CODE: "numpy", C_CODE: "c"}
SLOW_ROUNDS = 3  # of a contender that takes very long


@dataclass
class Contender:
    """What is timed, and the setting of `funcgrad.config` under which it runs."""

    call: Callable[[], Any]
    code: str | None = None

    def setting(self) -> Any:
        return nullcontext() if self.code is None else fg.config(self.code)


@dataclass
class Result:
    """Seconds, by contender; `rounds` has one entry per round, in the same order for all."""

    name: str
    rounds: dict[str, list[float]] = field(default_factory=dict)
    traces: dict[str, float] = field(default_factory=dict)
    first_calls: dict[str, float] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    def median(self, name: str) -> float:
        return statistics.median(self.rounds[name]) if name in self.rounds else float("nan")

    def ratio(self, name: str, reference: str | None) -> float:
        """The median over the rounds in which both ran."""
        if name not in self.rounds or reference not in self.rounds:
            return float("nan")
        pairs = zip(self.rounds[name], self.rounds[reference], strict=False)
        return statistics.median(mine / theirs for mine, theirs in pairs)

    def best_peer(self) -> str | None:
        return min((p for p in PEERS if p in self.rounds), key=self.median, default=None)


@dataclass(frozen=True)
class Plan:
    """The options that measuring reads."""

    with_peers: bool = True
    with_torch_compile: bool = False
    seconds: float = 3.0  # of timing, for each workload
    batch_seconds: float = 0.005
    first_calls: int = 3
    threads: int | None = None


# ---------------------------------------------------------------- contenders


def our_contenders(work: Workload, args: tuple[Any, ...]) -> dict[str, Contender]:
    """Compiled as NumPy and as C, and without `jit`."""
    found = {}
    for name, code in CODES.items():
        f = fg.jit(work.program(fg, np))
        found[name] = Contender(partial(f, *args), code)
    eager = work.program(fg, np)
    found[EAGER] = Contender(lambda: eager(*args))
    return found


def hand_contenders(work: Workload, args: tuple[Any, ...]) -> dict[str, Contender]:
    f = work.by_hand
    return {} if f is None else {BY_HAND: Contender(lambda: f(*args))}


def hips_contenders(work: Workload, args: tuple[Any, ...], plan: Plan) -> dict[str, Contender]:
    import autograd
    import autograd.numpy as anp

    if work.hips is None:
        return {}
    f = work.hips(autograd, anp)
    return {HIPS: Contender(lambda: f(*args))}


def torch_contenders(work: Workload, args: tuple[Any, ...], plan: Plan) -> dict[str, Contender]:
    import torch

    torch.set_default_dtype(torch.float64)
    if plan.threads:
        torch.set_num_threads(plan.threads)

    def tensors() -> tuple[Any, ...]:
        return map_tree(torch.tensor, args)

    found = {}
    if work.torch is not None:
        found[TORCH] = Contender(work.torch(torch, tensors(), lambda f: f))
        if plan.with_torch_compile:
            found[TORCH_COMPILE] = Contender(work.torch(torch, tensors(), torch.compile))
    if work.torch_func:
        f, given = work.program(torch_transforms(torch), torch), tensors()
        found[TORCH_FUNC] = Contender(lambda: f(*given))
    return found


def jax_contenders(work: Workload, args: tuple[Any, ...], plan: Plan) -> dict[str, Contender]:
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    f, given = jax.jit(work.program(jax, jnp)), map_tree(jnp.asarray, args)
    return {JAX: Contender(lambda: jax.block_until_ready(f(*given)))}


def peer_contenders(work: Workload, args: tuple[Any, ...], plan: Plan) -> dict[str, Contender]:
    """Those of the installed peers."""
    found: dict[str, Contender] = {}
    for make in (hips_contenders, torch_contenders, jax_contenders):
        try:
            found |= make(work, args, plan)
        except ImportError:
            continue
    return found


# ---------------------------------------------------------------- checking


def as_arrays(result: Any) -> list[np.ndarray]:
    """The leaves of a result as NumPy arrays."""
    return [np.asarray(x.detach() if hasattr(x, "detach") else x) for x in leaves_of(result)]


def results_of(contender: Contender) -> list[np.ndarray]:
    with contender.setting():
        return as_arrays(contender.call())


def compare(actual: list[np.ndarray], expected: list[np.ndarray], rtol: float) -> None:
    """Raise unless they agree, relative to each result's largest entry."""
    if len(actual) != len(expected):
        raise AssertionError(f"{len(actual)} results, expected {len(expected)}")
    for a, e in zip(actual, expected, strict=True):
        scale = float(np.max(np.abs(e), initial=0.0))
        np.testing.assert_allclose(a, e, rtol, rtol * scale)
        if a.shape != e.shape:
            raise AssertionError(f"a result has shape {a.shape}, expected {e.shape}")


def check(work: Workload, contenders: dict[str, Contender], result: Result) -> None:
    """Drop, and note, what fails, and what disagrees with the first that does not.

    That is ours without `jit`, unless it fails.
    """
    expected: list[np.ndarray] | None = None
    for name in [EAGER, *(n for n in contenders if n != EAGER)]:
        try:
            actual = results_of(contenders[name])
            expected = actual if expected is None else expected
            compare(actual, expected, work.rtol)
        except Exception as error:
            shown = " ".join(str(error).split())[:400]
            result.failures[name] = f"{type(error).__name__}: {shown}"
            print(f"  !! {work.name}: {name}: {result.failures[name]}", flush=True)
            del contenders[name]


# ---------------------------------------------------------------- timing


def interleave(contenders: dict[str, Contender], plan: Plan) -> dict[str, list[float]]:
    """Every contender once per round, each round in another order, until the time is up."""
    repeats, costs = {}, {}
    for name, contender in contenders.items():
        with contender.setting():
            repeats[name] = calls_per_batch(contender.call, plan.batch_seconds)
            costs[name] = seconds_per_call(contender.call, 1) * repeats[name]
    # Three rounds are enough of those that take long; the others get what remains.
    limit = plan.seconds / 10
    quick = sum(cost for cost in costs.values() if cost <= limit)
    rounds = max(SLOW_ROUNDS, min(51, int(plan.seconds / max(quick, 1e-9))))
    measured: dict[str, list[float]] = {name: [] for name in contenders}
    for turn in range(rounds):
        gc.collect()
        gc.disable()
        try:
            for name in random.Random(turn).sample(list(contenders), len(contenders)):
                if costs[name] > limit and turn >= SLOW_ROUNDS:
                    continue
                contender = contenders[name]
                with contender.setting():
                    measured[name].append(seconds_per_call(contender.call, repeats[name]))
        finally:
            gc.enable()
    return measured


@contextmanager
def fresh_cache() -> Iterator[None]:
    """No loops on disk: the C compiler has to run."""
    before = os.environ.get("FUNCGRAD_CACHE")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["FUNCGRAD_CACHE"] = folder
        try:
            yield
        finally:
            del os.environ["FUNCGRAD_CACHE"]
            if before is not None:
                os.environ["FUNCGRAD_CACHE"] = before


def once(make: Callable[[], Callable[[], Any]], repeats: int) -> float:
    """The median seconds of the first call of what has just been made."""
    times = []
    for _ in range(repeats):
        call = make()
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def first_calls(work: Workload, args: tuple[Any, ...], result: Result, plan: Plan) -> None:
    """Tracing, and the first call of a function that has just been made."""
    repeats = plan.first_calls
    for name, code in CODES.items():
        if name in result.rounds:
            with fg.config(code), fresh_cache():
                result.first_calls[name] = once(
                    lambda: partial(fg.jit(work.program(fg, np)), *args),
                    repeats if code == "numpy" else 1,
                )
    if NUMPY_CODE in result.rounds:
        result.traces[NUMPY_CODE] = once(
            lambda: partial(fg.make_jaxpr(work.program(fg, np)), *args), repeats
        )
    if JAX in result.rounds:
        import jax
        import jax.numpy as jnp

        given = map_tree(jnp.asarray, args)

        def compiled() -> Callable[[], Any]:
            f = jax.jit(work.program(jax, jnp))
            return lambda: jax.block_until_ready(f(*given))

        result.traces[JAX] = once(
            lambda: partial(jax.make_jaxpr(work.program(jax, jnp)), *given), repeats
        )
        result.first_calls[JAX] = once(compiled, repeats)


def measure(work: Workload, plan: Plan) -> Result:
    """Make, check and time all contenders of a workload."""
    result, args = Result(work.name), work.arguments()
    contenders = our_contenders(work, args) | hand_contenders(work, args)
    if plan.with_peers:
        contenders |= peer_contenders(work, args, plan)
    check(work, contenders, result)
    best = next((n for n in (C_CODE, NUMPY_CODE) if n in contenders), None)
    if work.function is not None and best is not None:
        f = fg.jit(work.function(fg, np))
        contenders[FUNCTION] = Contender(lambda: f(*args), CODES[best])
    result.rounds = interleave(contenders, plan)
    first_calls(work, args, result, plan)
    return result
