"""The Tensor layer against PyTorch: the same code, run with either module imported as `torch`.

A chain of 100 mixed operations (forward and backward; forward only under `no_grad`) and training
steps of two small networks, written with bare tensors and gradient descent by hand. HIPS autograd
and MyGrad run the chain and the smaller network in their own idiom. Everything is interleaved in
one process on one thread, and nothing is timed before its result has been checked.

For a chain of 1,000 elements it matters that there is a C compiler: NumPy's sine and cosine of float64
take 7.9 us, a loop in C 0.7 us, PyTorch's 3.4 us. Without one the chain takes 0.87 of PyTorch's time.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

# Read once by the numerical libraries while they are imported, hence set before any of them.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"

import numpy as np
from _timing import Timings, format_table, interleave, versions, write_json

import compat

Call = Callable[[], Any]
Contenders = dict[str, Call]
Workload = Callable[[Any], Call]  # from the module used as `torch` to what is timed

LINKS = 20
RATE = 0.01

OURS = "compat"
TORCH = "PyTorch"
HIPS = "HIPS autograd"
MYGRAD = "MyGrad"
NUMPY = "NumPy by hand"


# ---------------------------------------------------------------- the code that both modules run


def chain(xp: Any, x: Any) -> Any:
    """20 links of multiply, add, sin, tanh and one more: 100 operations."""
    for link in range(LINKS):
        y = x * x
        y = y + x
        y = xp.sin(y)
        y = xp.tanh(y)
        x = y * 0.5 if link % 2 else xp.exp(y)
    return x


def start(size: int) -> np.ndarray:
    return np.linspace(-1.0, 1.0, size + 2)[1:-1]


def chain_and_back(size: int, dtype: Any = np.float64) -> Workload:
    """Forward and backward of the summed chain."""

    def workload(torch: Any) -> Call:
        x = torch.tensor(start(size).astype(dtype), requires_grad=True)

        def call() -> Any:
            x.grad = None
            chain(torch, x).sum().backward()
            return x.grad

        return call

    return workload


def chain_without_grad(size: int) -> Workload:
    """The chain's forward pass under `no_grad`."""

    def workload(torch: Any) -> Call:
        x = torch.tensor(start(size), requires_grad=True)

        def call() -> Any:
            with torch.no_grad():
                return chain(torch, x)

        return call

    return workload


def weights(sizes: Sequence[int], dtype: Any) -> list[np.ndarray]:
    """The weight and the bias of every layer."""
    rng = np.random.default_rng(0)
    found = []
    for rows, columns in itertools.pairwise(sizes):
        found.append((rng.normal(size=(rows, columns)) / np.sqrt(rows)).astype(dtype))
        found.append(np.zeros(columns, dtype))
    return found


def descend(torch: Any, parameters: Sequence[Any]) -> None:
    """One step of gradient descent by hand."""
    with torch.no_grad():
        for p in parameters:
            p -= RATE * p.grad
            p.grad = None


def small_network(torch: Any, dtype: Any = np.float64) -> Call:
    """A step of a 16-32-1 network, batch 16, mean squared error."""
    rng = np.random.default_rng(1)
    x = torch.tensor(rng.normal(size=(16, 16)).astype(dtype))
    target = torch.tensor(rng.normal(size=(16, 1)).astype(dtype))
    parameters = [torch.tensor(w, requires_grad=True) for w in weights((16, 32, 1), dtype)]

    def call() -> Any:
        w1, b1, w2, b2 = parameters
        hidden = torch.tanh(x @ w1 + b1)
        out = hidden @ w2 + b2
        loss = ((out - target) ** 2).mean()
        loss.backward()
        descend(torch, parameters)
        return loss

    return call


def large_network(torch: Any) -> Call:
    """A step of a 784-256-128-10 network, batch 128, float32, cross entropy."""
    rng = np.random.default_rng(1)
    x = torch.tensor(rng.random((128, 784), np.float32))
    labels = np.eye(10, dtype=np.float32)[rng.integers(0, 10, 128)]
    target = torch.tensor(labels)
    parameters = [
        torch.tensor(w, requires_grad=True) for w in weights((784, 256, 128, 10), np.float32)
    ]

    def call() -> Any:
        w1, b1, w2, b2, w3, b3 = parameters
        hidden = torch.relu(x @ w1 + b1)
        hidden = torch.relu(hidden @ w2 + b2)
        scores = torch.log_softmax(hidden @ w3 + b3, dim=1)
        loss = -(scores * target).sum() / 128
        loss.backward()
        descend(torch, parameters)
        return loss

    return call


# Workload, what it is called, and the ratio to PyTorch that the project promises (None: no promise).
WORKLOADS: dict[str, tuple[Workload, float | None]] = {
    "chain of 100, 10 elements, forward + backward": (chain_and_back(10), 0.5),
    "chain of 100, 1,000 elements, forward + backward": (chain_and_back(1000), 0.8),
    "chain of 100, 10 float32, forward + backward": (chain_and_back(10, np.float32), 0.5),
    "chain of 100, 1,000 float32, forward + backward": (chain_and_back(1000, np.float32), 0.8),
    "chain of 100, 10 elements, forward under no_grad": (chain_without_grad(10), 0.9),
    "chain of 100, 1,000 elements, forward under no_grad": (chain_without_grad(1000), None),
    "16-32-1 network, batch 16, one step": (small_network, 0.5),
    "16-32-1 network, float32, one step": (
        functools.partial(small_network, dtype=np.float32),
        0.5,
    ),
    "784-256-128-10 network, batch 128, one step": (large_network, 1.1),
}
CHAIN = "chain of 100, {:,} elements, forward + backward"
SMALL = "16-32-1 network, batch 16, one step"


# ---------------------------------------------------------------- the floor


def numpy_contenders(name: str) -> Contenders:
    """NumPy with the gradient written by hand: what a tape cannot get below."""
    if name != SMALL:
        return {}
    rng = np.random.default_rng(1)
    x, target = rng.normal(size=(16, 16)), rng.normal(size=(16, 1))
    parameters = weights((16, 32, 1), np.float64)

    def call() -> Any:
        w1, b1, w2, b2 = parameters
        hidden = np.tanh(x @ w1 + b1)
        rest = hidden @ w2 + b2 - target
        loss = (rest * rest).mean()
        g = rest * (2 / rest.size)
        back = g @ w2.T * (1 - hidden * hidden)
        grads = (x.T @ back, back.sum(0), hidden.T @ g, g.sum(0))
        for p, gradient in zip(parameters, grads, strict=True):
            p -= RATE * gradient
        return loss

    return {NUMPY: call}


# ---------------------------------------------------------------- peers with an idiom of their own


def hips_contenders(name: str) -> Contenders:
    """HIPS autograd: gradients of functions."""
    import autograd
    import autograd.numpy as anp

    for size in (10, 1000):
        if name == CHAIN.format(size):
            gradient = autograd.grad(lambda v: anp.sum(chain(anp, v)))
            return {HIPS: functools.partial(gradient, start(size))}
    if name != SMALL:
        return {}
    rng = np.random.default_rng(1)
    x, target = rng.normal(size=(16, 16)), rng.normal(size=(16, 1))
    parameters = weights((16, 32, 1), np.float64)

    def loss(ps: Sequence[Any]) -> Any:
        w1, b1, w2, b2 = ps
        hidden = anp.tanh(x @ w1 + b1)
        return anp.mean((hidden @ w2 + b2 - target) ** 2)

    value_and_grad = autograd.value_and_grad(loss)

    def call() -> Any:
        value, grads = value_and_grad(parameters)
        for p, g in zip(parameters, grads, strict=True):
            p -= RATE * g
        return value

    return {HIPS: call}


def mygrad_contenders(name: str) -> Contenders:
    """MyGrad: tensors with `.grad`."""
    import mygrad

    for size in (10, 1000):
        if name == CHAIN.format(size):

            def gradient(size: int = size) -> Any:
                leaf = mygrad.tensor(start(size))
                chain(mygrad, leaf).sum().backward()
                return leaf.grad

            return {MYGRAD: gradient}
    if name != SMALL:
        return {}
    rng = np.random.default_rng(1)
    x, target = rng.normal(size=(16, 16)), rng.normal(size=(16, 1))
    parameters = [mygrad.tensor(w) for w in weights((16, 32, 1), np.float64)]

    def call() -> Any:
        w1, b1, w2, b2 = parameters
        hidden = mygrad.tanh(mygrad.matmul(x, w1) + b1)
        loss = mygrad.mean((mygrad.matmul(hidden, w2) + b2 - target) ** 2)
        loss.backward()
        for p in parameters:
            p.data -= RATE * p.grad
        return loss.data

    return {MYGRAD: call}


# ---------------------------------------------------------------- measuring


def contenders_of(name: str, with_peers: bool) -> tuple[Contenders, list[str]]:
    """Everything that runs the workload, and the packages that are missing."""
    workload, _ = WORKLOADS[name]
    found: Contenders = {OURS: workload(compat), **numpy_contenders(name)}
    missing = []
    if with_peers:
        try:
            import torch

            torch.set_num_threads(1)
            found[TORCH] = workload(torch)
        except ImportError:
            missing.append("torch")
        for package, contenders in (("autograd", hips_contenders), ("mygrad", mygrad_contenders)):
            try:
                found |= contenders(name)
            except ImportError:
                missing.append(package)
    return found, missing


def as_array(x: Any) -> np.ndarray:
    return np.asarray(x.detach().numpy() if hasattr(x, "detach") else x)


def check_results(contenders: Contenders) -> None:
    """Fail unless all agree, over three calls: the steps of a network change its weights."""
    for _ in range(3):
        expected = as_array(contenders[OURS]())
        # Where the chain cancels, single precision keeps few digits of its gradient.
        atol = np.finfo(expected.dtype).eps * np.abs(expected).max() * 1000
        for name, call in contenders.items():
            if name != OURS:
                np.testing.assert_allclose(as_array(call()), expected, 1e-4, atol, err_msg=name)


def measure(name: str, with_peers: bool, quick: bool) -> tuple[Timings, list[str]]:
    """Check and time one workload."""
    contenders, missing = contenders_of(name, with_peers)
    check_results(contenders)
    return interleave(contenders, 15 if quick else 51, 0.002 if quick else 0.01), missing


def print_report(timings: dict[str, Timings]) -> list[dict[str, Any]]:
    """Print microseconds per call and the ratios; returns the ratios."""
    columns = [OURS, TORCH, HIPS, MYGRAD, NUMPY]
    rows, ratios = [], []
    for name, t in timings.items():
        cells = [f"{t.median(c) * 1e6:,.1f}" if c in t.rounds else "" for c in columns]
        ratio, target = "", WORKLOADS[name][1]
        if TORCH in t.rounds:
            value = t.ratio(OURS, TORCH)
            ratio = f"{value:.2f}"
            if target is not None:
                ratio += f" (target {target}: {'met' if value <= target else 'missed'})"
            ratios.append({"workload": name, "ratio": value, "target": target})
        rows.append([name, *cells, ratio])
    print("Median microseconds per call:\n")
    print(format_table(["workload", *columns, f"{OURS} / {TORCH}"], rows))
    return ratios


def chain_of_activations(torch: Any) -> None:
    """1,000 steps on 1 MiB, each of which keeps its result for the way back."""
    x = torch.tensor(np.full(2**17, 0.5), requires_grad=True)
    y = x
    for _ in range(1000):
        y = torch.tanh(y)
    y.sum().backward()


def peak_memory(module: str) -> float:
    """MiB that the chain of activations adds to the peak of a process of its own."""
    script = (
        "import resource, sys; sys.path.insert(0, sys.argv[1]); import tape, importlib; "
        "module = importlib.import_module(sys.argv[2]); module.tensor([1.0]); "
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss; before = peak(); "
        "tape.chain_of_activations(module); print((peak() - before) / 1024)"
    )
    folder = str(Path(__file__).parent)
    run = subprocess.run(
        [sys.executable, "-c", script, folder, module], capture_output=True, text=True, check=True
    )
    return float(run.stdout)


def print_memory(with_peers: bool) -> None:
    """Print the peak memory of both modules and their ratio."""
    peaks = {OURS: peak_memory("compat")}
    if with_peers and find_spec("torch"):
        peaks[TORCH] = peak_memory("torch")
    shown = ", ".join(f"{name} {mib:,.0f} MiB" for name, mib in peaks.items())
    ratio = f"; ratio {peaks[OURS] / peaks[TORCH]:.3f} (target 1.1)" if TORCH in peaks else ""
    print(f"\nPeak memory of 1,000 activations of 1 MiB: {shown}{ratio}")


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds")
    parser.add_argument("--no-peers", action="store_true", help="leave other libraries out")
    parser.add_argument("--only", metavar="TEXT", help="the workloads whose name contains TEXT")
    parser.add_argument("--json", type=Path, metavar="PATH", help="also write the results here")
    return parser.parse_args()


def main() -> None:
    """Measure every workload, print the table and write the file that was asked for."""
    options = parse_arguments()
    timings: dict[str, Timings] = {}
    missing: list[str] = []
    for name in WORKLOADS:
        if options.only is None or options.only in name:
            timings[name], missing = measure(name, not options.no_peers, options.quick)
    installed = versions(["numpy", "funcgrad", "torch", "autograd", "mygrad"])
    print(", ".join(f"{package} {version}" for package, version in installed.items()))
    if missing:
        print(f"Not installed, so left out: {', '.join(missing)}")
    ratios = print_report(timings) if timings else []
    if options.only is None or options.only in "memory":
        print_memory(not options.no_peers)
    if options.json:
        medians = {name: {c: t.median(c) * 1e6 for c in t.rounds} for name, t in timings.items()}
        write_json(options.json, {"versions": installed, "us_per_call": medians, "ratios": ratios})


if __name__ == "__main__":
    main()
