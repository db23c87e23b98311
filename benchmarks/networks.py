"""Training steps of networks, written with `nn` and `optim`: the same code on `compat` and PyTorch.

Each step is `zero_grad`, forward, loss, `backward` and the optimizer's step, in float32. The models
start from the same numbers, losses of three steps are compared, and ours run for some seconds, before
anything is timed. Every step is also timed as a program of `compat.compile`. Everything runs on one
thread, or on as many as the variable OMP_NUM_THREADS says.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Read once by the numerical libraries while they are imported, hence set before any of them.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"]
os.environ["MKL_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"]

import numpy as np
from _timing import Timings, format_table, interleave, versions, write_json

import compat

THREADS = int(os.environ["OMP_NUM_THREADS"])
Call = Callable[[], Any]
Workload = Callable[[Any], tuple[Any, Any, Call]]  # model, optimizer, one step

OURS = "compat"
COMPILED = "compat.compile"
TORCH = "PyTorch"


def numbers(torch: Any, *shape: int, seed: int = 1) -> Any:
    return torch.tensor(np.random.default_rng(seed).normal(size=shape).astype(np.float32))


def labels(torch: Any, below: int, *shape: int) -> Any:
    return torch.tensor(np.random.default_rng(2).integers(0, below, shape))


def stepping(model: Any, optimizer: Any, loss_of: Call) -> tuple[Any, Any, Call]:
    def step() -> Any:
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        optimizer.step()
        return loss

    return model, optimizer, step


# ---------------------------------------------------------------- the code that both modules run


def perceptron(sizes: tuple[int, ...], batch: int, classes: bool) -> Workload:
    """Linear layers with SGD: tanh and a mean square error, or relu and cross entropy."""

    def workload(torch: Any) -> tuple[Any, Any, Call]:
        nn = torch.nn
        layers: list[Any] = []
        for m, n in itertools.pairwise(sizes):
            layers += [nn.Linear(m, n), nn.ReLU() if classes else nn.Tanh()]
        model = nn.Sequential(*layers[:-1])
        x = numbers(torch, batch, sizes[0])
        target = labels(torch, sizes[-1], batch) if classes else numbers(torch, batch, 1, seed=2)
        criterion = nn.CrossEntropyLoss() if classes else nn.MSELoss()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        return stepping(model, optimizer, lambda: criterion(model(x), target))

    return workload


def lstm(torch: Any, cells: bool) -> tuple[Any, Any, Call]:
    """50 steps, batch 16, width 128: `nn.LSTM`, or a Python loop over an `nn.LSTMCell`."""
    nn = torch.nn
    model = nn.LSTMCell(128, 128) if cells else nn.LSTM(128, 128)
    x, target = numbers(torch, 50, 16, 128), numbers(torch, 16, 128, seed=2)

    def loss_of() -> Any:
        if not cells:
            return nn.functional.mse_loss(model(x)[0][-1], target)
        h = c = torch.zeros(16, 128)
        for t in range(50):
            h, c = model(x[t], (h, c))
        return nn.functional.mse_loss(h, target)

    return stepping(model, torch.optim.SGD(model.parameters(), lr=0.01), loss_of)


def lenet(torch: Any) -> tuple[Any, Any, Call]:
    """Two convolutions and three linear layers on 64 images of 28 x 28, Adam."""
    nn = torch.nn
    model = nn.Sequential(
        *(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()),
        *(nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)),
    )
    x, target = numbers(torch, 64, 1, 28, 28), labels(torch, 10, 64)
    optimizer = torch.optim.Adam(model.parameters())
    return stepping(model, optimizer, lambda: nn.functional.cross_entropy(model(x), target))


def block_class(torch: Any) -> Any:
    """A block of a transformer, as GPT has it, as a class over either module."""
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self, width: int, heads: int) -> None:
            super().__init__()
            self.heads = heads
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x: Any) -> Any:
            batch, length, width = x.shape
            parts = self.qkv(self.norm1(x)).split(width, dim=2)
            q, k, v = (
                p.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
                for p in parts
            )
            y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(y.transpose(1, 2).contiguous().view(batch, length, width))
            return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))

    return Block


def gpt(torch: Any) -> tuple[Any, Any, Call]:
    """4 layers of width 128 with 4 heads, context 64, batch 16, 65 characters, AdamW."""
    nn = torch.nn
    block = block_class(torch)
    model = nn.ModuleDict(
        {
            "token": nn.Embedding(65, 128),
            "place": nn.Embedding(64, 128),
            "blocks": nn.Sequential(*[block(128, 4) for _ in range(4)]),
            "norm": nn.LayerNorm(128),
            "head": nn.Linear(128, 65, bias=False),
        }
    )
    x, target = labels(torch, 65, 16, 64), labels(torch, 65, 16 * 64)
    places = torch.arange(64)

    def loss_of() -> Any:
        h = model["token"](x) + model["place"](places)
        scores = model["head"](model["norm"](model["blocks"](h)))
        return nn.functional.cross_entropy(scores.view(-1, 65), target)

    return stepping(model, torch.optim.AdamW(model.parameters(), lr=3e-4), loss_of)


def adam(torch: Any) -> tuple[Any, Any, Call]:
    """The step alone, of Adam over 1e6 parameters in 50 tensors."""
    model = torch.nn.ParameterList(
        [torch.nn.Parameter(numbers(torch, 100, 200, seed=i)) for i in range(50)]
    )
    for i, p in enumerate(model):
        p.grad = numbers(torch, 100, 200, seed=100 + i)
    optimizer = torch.optim.Adam(model.parameters())

    def step() -> Any:
        optimizer.step()
        return model[0].detach().mean()

    return model, optimizer, step


# What it is called, the workload, and the ratios to PyTorch that the project promises; PyTorch's own
# LSTM and its loop over cells are different programs, each compared with ours of the same kind.
WORKLOADS: dict[str, tuple[Workload, float]] = {
    "16-32-1 network, batch 16, SGD": (perceptron((16, 32, 1), 16, False), 0.5),
    "784-256-128-10 network, batch 128, SGD": (perceptron((784, 256, 128, 10), 128, True), 1.0),
    "LSTMCell in a loop, 50 steps, width 128": (lambda torch: lstm(torch, True), 0.7),
    "nn.LSTM, 50 steps, width 128": (lambda torch: lstm(torch, False), 2.0),
    "LeNet, batch 64, Adam": (lenet, 2.0),
    "GPT, 4 layers, width 128, context 64, batch 16": (gpt, 1.5),
    "Adam alone, 1e6 parameters in 50 tensors": (adam, 1.0),
}
SECONDS = 4.0  # that each of ours runs before anything is timed
FASTER = 1.3  # how much a compiled step is to be faster than an eager one


# ---------------------------------------------------------------- measuring


def contenders_of(name: str) -> dict[str, Call]:
    """One step for each library, all from the same numbers."""
    workload, _ = WORKLOADS[name]
    first, _, ours = workload(compat)
    start = {k: v.numpy().copy() for k, v in first.state_dict().items()}
    second, _, other = workload(compat)
    second.load_state_dict({k: compat.tensor(v) for k, v in start.items()})
    found = {OURS: ours, COMPILED: compat.compile(other)}
    try:
        import torch
    except ImportError:
        return found
    torch.set_num_threads(THREADS)
    third, _, theirs = workload(torch)
    third.load_state_dict({k: torch.tensor(v) for k, v in start.items()})
    return {**found, TORCH: theirs}


def check_results(contenders: dict[str, Call]) -> None:
    """Fail unless the losses of three steps agree."""
    for _ in range(3):
        losses = {name: float(call().detach().numpy()) for name, call in contenders.items()}
        for name, loss in losses.items():
            if not math.isclose(loss, losses[OURS], rel_tol=1e-4, abs_tol=1e-5):
                raise AssertionError(f"{name}: the loss is {loss}, that of {OURS} {losses[OURS]}")


def warm_up(contenders: dict[str, Call]) -> None:
    """Let ours run for a while, in which what is to be C becomes so in the background."""
    for name in (OURS, COMPILED):
        end = time.perf_counter() + SECONDS
        while time.perf_counter() < end:
            contenders[name]()


def verdict(value: float, target: float, is_met: bool) -> str:
    return f"{value:.2f} ({'met' if is_met else 'missed'}: {target})"


def row_of(name: str, t: Timings) -> list[str]:
    """The line of one workload in the table."""
    cells = [f"{t.median(c) * 1e6:,.0f}" if c in t.rounds else "" for c in (OURS, COMPILED, TORCH)]
    ratio = faster = ""
    if TORCH in t.rounds:
        target = WORKLOADS[name][1]
        value = t.ratio(OURS, TORCH)
        ratio = verdict(value, target, value <= target)
    value = t.ratio(OURS, COMPILED)
    faster = verdict(value, FASTER, value >= FASTER)
    return [name, *cells, ratio, faster]


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds")
    parser.add_argument("--only", metavar="TEXT", help="the workloads whose name contains TEXT")
    parser.add_argument("--json", type=Path, metavar="PATH", help="also write the results here")
    return parser.parse_args()


def main() -> None:
    """Measure every workload, print the table and write the file that was asked for."""
    options = parse_arguments()
    timings: dict[str, Timings] = {}
    for name in WORKLOADS:
        if options.only is None or options.only in name:
            contenders = contenders_of(name)
            check_results(contenders)
            warm_up(contenders)
            timings[name] = interleave(
                contenders, 9 if options.quick else 31, 0.02 if options.quick else 0.1
            )
    installed = versions(["numpy", "funcgrad", "torch"])
    print(", ".join(f"{package} {version}" for package, version in installed.items()))
    print(f"Median microseconds per step, {THREADS} thread(s):\n")
    header = ["workload", OURS, COMPILED, TORCH, f"{OURS} / {TORCH}", "eager / compiled"]
    print(format_table(header, [row_of(name, t) for name, t in timings.items()]))
    if options.json:
        medians = {name: {c: t.median(c) * 1e6 for c in t.rounds} for name, t in timings.items()}
        write_json(
            options.json, {"versions": installed, "threads": THREADS, "us_per_step": medians}
        )


if __name__ == "__main__":
    main()
