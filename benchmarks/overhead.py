"""What one differentiated operation costs: a chain of 100 mixed operations, timed per operation.

The same chain runs through bare NumPy, through funcgrad's transforms, through a gradient written
by hand and through the installed peers (HIPS autograd, PyTorch, MyGrad and JAX), all interleaved
in one process on one thread.  Nothing is timed before its result has been checked.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

# Read once by the numerical libraries while they are imported, hence set before any of them.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ["JAX_PLATFORMS"] = "cpu"

import numpy as np
from _timing import Timings, format_table, interleave, versions, write_json

import funcgrad as fg
import funcgrad.numpy as fnp

Array = Any
Call = Callable[[], Array]
Contenders = dict[str, Call]

LINKS = 20
OPERATIONS = 5 * LINKS
SIZES = (1, 10, 1000, 1_000_000)

BARE = "NumPy forward"
BIND = "funcgrad bind"
VMAP = "funcgrad vmap"
GRAD = "funcgrad grad"
BY_HAND = "hand-written NumPy gradient"
HIPS = "HIPS autograd grad"
TORCH = "PyTorch forward + backward"
MYGRAD = "MyGrad forward + backward"
JAX = "JAX grad"
JAX_JIT = "JAX jit(grad)"

# The ratios that the project promises: contender, reference, number of elements, upper bound.
TARGETS = (
    (GRAD, HIPS, 10, 0.4),
    (GRAD, TORCH, 10, 0.8),
    (GRAD, BY_HAND, 1_000_000, 1.1),
)


def chain(xp: Any, x: Array) -> Array:
    """The chain with Python's operators: 20 links of multiply, add, sin, tanh and one more."""
    for link in range(LINKS):
        y = x * x
        y = y + x
        y = xp.sin(y)
        y = xp.tanh(y)
        x = y * 0.5 if link % 2 else xp.exp(y)
    return x


def chain_of_calls(xp: Any, x: Array) -> Array:
    """The same chain with a namespace function for every operation."""
    for link in range(LINKS):
        y = xp.multiply(x, x)
        y = xp.add(y, x)
        y = xp.sin(y)
        y = xp.tanh(y)
        x = xp.multiply(y, 0.5) if link % 2 else xp.exp(y)
    return x


def sum_of_chain(xp: Any) -> Callable[[Array], Array]:
    """The scalar function whose gradient everyone computes."""
    return lambda x: xp.sum(chain(xp, x))


def hand_written_gradient(x: Array) -> Array:
    """The gradient of the summed chain, keeping the values that the derivatives need."""
    kept = []
    for link in range(LINKS):
        inner = x * x + x
        bounded = np.tanh(np.sin(inner))
        out = bounded * 0.5 if link % 2 else np.exp(bounded)
        kept.append((x, inner, bounded, out))
        x = out
    g = np.ones_like(x)
    for link in reversed(range(LINKS)):
        x, inner, bounded, out = kept.pop()
        g = g * 0.5 if link % 2 else g * out
        g = g * (1.0 - bounded * bounded)
        g = g * np.cos(inner)
        g = g * (2.0 * x + 1.0)
    return g


def numpy_contenders(x: Array) -> Contenders:
    """The bare forward pass and the gradient written by hand."""
    return {BARE: lambda: chain(np, x), BY_HAND: lambda: hand_written_gradient(x)}


def funcgrad_contenders(x: Array) -> Contenders:
    """Every transform of the chain, once with funcgrad's functions and once with NumPy's."""
    found: Contenders = {BIND: lambda: chain_of_calls(fnp, x)}
    ones = np.ones_like(x)
    for suffix, xp in (("", fnp), (", np functions", np)):
        # One function object per namespace, as in a program that differentiates it in a loop.
        apply, gradient = (lambda v, xp=xp: chain(xp, v)), fg.grad(sum_of_chain(xp))
        mapped = fg.vmap(apply)
        found |= {
            f"funcgrad jvp{suffix}": lambda f=apply: fg.jvp(f, (x,), (ones,))[1],
            f"funcgrad linearize{suffix}": lambda f=apply: fg.linearize(f, x)[1](ones),
            f"{VMAP}{suffix}": lambda f=mapped: f(x),
            f"{GRAD}{suffix}": lambda f=gradient: f(x),
        }
    return found


def hips_contenders(x: Array) -> Contenders:
    """HIPS autograd."""
    import autograd
    import autograd.numpy as anp

    gradient = autograd.grad(sum_of_chain(anp))
    return {HIPS: lambda: gradient(x)}


def torch_contenders(x: Array) -> Contenders:
    """PyTorch, eager, on one thread."""
    import torch

    torch.set_num_threads(1)
    leaf = torch.tensor(x, requires_grad=True)
    function = sum_of_chain(torch)
    return {TORCH: lambda: torch.autograd.grad(function(leaf), leaf)[0]}


def mygrad_contenders(x: Array) -> Contenders:
    """MyGrad."""
    import mygrad

    function = sum_of_chain(mygrad)

    def gradient() -> Array:
        leaf = mygrad.tensor(x, copy=False)
        function(leaf).backward()
        return leaf.grad

    return {MYGRAD: gradient}


def jax_contenders(x: Array) -> Contenders:
    """JAX without and with compilation, in double precision on the CPU."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    on_device, eager = jnp.asarray(x), jax.grad(sum_of_chain(jnp))
    compiled = jax.jit(eager)
    return {
        JAX: lambda: eager(on_device).block_until_ready(),
        JAX_JIT: lambda: compiled(on_device).block_until_ready(),
    }


PEERS: Mapping[str, Callable[[Array], Contenders]] = {
    "autograd": hips_contenders,
    "torch": torch_contenders,
    "mygrad": mygrad_contenders,
    "jax": jax_contenders,
}


def peer_contenders(x: Array) -> tuple[Contenders, list[str]]:
    """The contenders of the installed peers, and the names of the missing ones."""
    found: Contenders = {}
    missing = []
    for package, contenders in PEERS.items():
        try:
            found |= contenders(x)
        except ImportError:
            missing.append(package)
    return found, missing


def check_results(contenders: Contenders, x: Array) -> None:
    """Fail unless every contender computes what the hand-written NumPy code does.

    The chain is elementwise, so that its tangent along a vector of ones is its gradient too.
    """
    value, gradient = chain(np, x), hand_written_gradient(x)
    for name, call in contenders.items():
        is_value = name in (BARE, BIND) or name.startswith(VMAP)
        expected = value if is_value else gradient
        actual = np.asarray(call())
        np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-9, err_msg=name)


def measure(size: int, with_peers: bool, quick: bool) -> tuple[Timings, list[str]]:
    """Check and time all contenders on arrays of one size; name the peers not installed."""
    x = np.linspace(-1.0, 1.0, size + 2)[1:-1]
    contenders = numpy_contenders(x) | funcgrad_contenders(x)
    missing: list[str] = []
    if with_peers:
        found, missing = peer_contenders(x)
        contenders |= found
    check_results(contenders, x)
    rounds = (5 if quick else 15) if size > 100_000 else (15 if quick else 51)
    return interleave(contenders, rounds, 0.001 if quick else 0.005), missing


def ratio_lines(timings: Mapping[int, Timings]) -> list[dict[str, Any]]:
    """The promised ratios that this run could measure."""
    lines = []
    for name, reference, size, bound in TARGETS:
        if size in timings and reference in timings[size].rounds:
            ratio = timings[size].ratio(name, reference)
            lines.append(
                {"of": name, "by": reference, "size": size, "ratio": ratio, "target": bound}
            )
    return lines


def print_report(timings: Mapping[int, Timings], ratios: Sequence[Mapping[str, Any]]) -> None:
    """Print microseconds per operation and the ratios."""
    names = next(iter(timings.values())).rounds
    rows = [
        [name, *(f"{t.median(name) / OPERATIONS * 1e6:.3f}" for t in timings.values())]
        for name in names
    ]
    print(f"Median microseconds per operation, {OPERATIONS} operations in a chain:\n")
    print(format_table(["elements", *(f"{size:,}" for size in timings)], rows))
    print("\nRatios of this run (median over the rounds, lower is faster):")
    for line in ratios:
        verdict = "met" if line["ratio"] <= line["target"] else "missed"
        label = f"{line['of']} / {line['by']}, {line['size']:,} elements"
        print(f"  {label}: {line['ratio']:.2f} (target {line['target']}: {verdict})")
    if not ratios:
        print("  none: the sizes or peers that the targets name were left out")


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=SIZES, metavar="N", help="numbers of elements"
    )
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds")
    parser.add_argument("--no-peers", action="store_true", help="leave other libraries out")
    parser.add_argument("--json", type=Path, metavar="PATH", help="also write the results here")
    return parser.parse_args()


def main() -> None:
    """Measure every size, print the table and write the file that was asked for."""
    options = parse_arguments()
    timings: dict[int, Timings] = {}
    missing: list[str] = []
    for size in options.sizes:
        timings[size], missing = measure(size, not options.no_peers, options.quick)
    installed = versions(["numpy", "funcgrad", *PEERS])
    print(", ".join(f"{package} {version}" for package, version in installed.items()))
    if missing:
        print(f"Not installed, so left out: {', '.join(missing)}")
    ratios = ratio_lines(timings)
    print_report(timings, ratios)
    if options.json:
        medians = {
            size: {name: t.median(name) / OPERATIONS * 1e6 for name in t.rounds}
            for size, t in timings.items()
        }
        report = {"versions": installed, "us_per_operation": medians, "ratios": ratios}
        write_json(options.json, report)


if __name__ == "__main__":
    main()
