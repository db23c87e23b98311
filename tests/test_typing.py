"""What type checkers and editors see: late names, and what decorators keep of a function."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

FUNCTIONS = """
from functools import partial
from typing import Any, assert_type

import numpy as np

import funcgrad
import funcgrad.jax as jax
from funcgrad import jit


@jit
def a(x: float, n: int = 2) -> float:
    return x**n


@jit(static_argnames="n")
def b(x: float, n: int) -> float:
    return x**n


@partial(jit, static_argnums=1)
def c(x: float, n: int) -> float:
    return x**n


@jax.jit
def d(x: float) -> float:
    return x


@funcgrad.checkpoint
def e(x: float) -> float:
    return x


@funcgrad.custom_jvp
def g(x: float) -> float:
    return x


@g.defjvp
def g_jvp(primals: tuple[float], tangents: tuple[float]) -> tuple[float, float]:
    return primals[0], tangents[0]


class Model:
    @jit
    def predict(self, x: float) -> float:
        return x


for f in (a(2.0, n=3), b(2.0, 3), d(2.0), e(2.0), g(2.0), Model().predict(2.0)):
    assert_type(f, float)
assert_type(funcgrad.value_and_grad(e)(2.0), tuple[float, Any])
a.lower(2.0).compile()
a("2.0")  # wrong
b(2.0)  # wrong
c(2.0, 3), jit(np.sin)(np.ones(2))
funcgrad.vmap(funcgrad.grad(lambda x: x * x))(np.ones(2))
funcgrad.vmap(jit(lambda x: x * x))(np.ones(2))
jit(funcgrad.grad(lambda x: x * x))(2.0)
jax.vmap(jax.grad(d))(jax.random.normal(jax.random.key(0), (3,)))
funcgrad.errors.ArgumentError, funcgrad.ops.segment_sum, funcgrad.scipy.stats.norm
"""

TENSORS = """
from typing import Any, assert_type

import compat as torch
import compat.nn.functional as F
from compat import Parameter, Tensor, nn, no_grad
from compat.nn.modules import Linear
from compat.utils.data import DataLoader, TensorDataset


@torch.no_grad()
def a(x: Tensor) -> int:
    return 1


@no_grad
def b(x: Tensor) -> int:
    return 1


@torch.inference_mode()
def c(x: Tensor) -> int:
    return 1


@torch.compile
def d(x: Tensor) -> int:
    return 1


@torch.compile(fullgraph=True)
def e(x: Tensor) -> int:
    return 1


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = Parameter(torch.ones(1))

    @torch.no_grad()
    def forward(self, x: Tensor) -> Tensor:
        return F.relu(x)


x = torch.ones(2, dtype=torch.float64)
for y in (a(x), b(x), c(x), d(x), e(x)):
    assert_type(y, int)
assert_type(torch.compile(Net()), Net)
assert_type(torch.compile(Linear(2, 2)), nn.Linear)
d.explain()
a(x, x)  # wrong
d()  # wrong
pairs: DataLoader[tuple[Tensor, Tensor]] = DataLoader(TensorDataset(x, x), batch_size=2)
loader = torch.utils.data.DataLoader([1, 2])
torch.distributions.Normal(0.0, 1.0), torch.signal.windows.hann, torch.quasirandom.SobolEngine
torch.utils.checkpoint.checkpoint, torch.optim.lr_scheduler.StepLR, torch.nn.utils.rnn.pad_sequence
torch.float32, torch.long, torch.bool, torch.pi, torch.FloatTensor, torch.save, torch.vmap
with torch.no_grad(), torch.enable_grad(), torch.set_grad_enabled(True):
    pass


def loss(model: Net, x: Tensor, labels: Tensor) -> Tensor:
    x = F.max_pool2d(F.relu(F.conv2d(x, model.weight)), 2)
    return F.cross_entropy(torch.flatten(x, 1), labels)


for t in (torch.tensor([1.0]), torch.zeros(2), torch.randn(2, 3), torch.arange(3), Tensor(2)):
    assert_type(t, Tensor)
for t in (x + 1, 1 - x, x * x, x / 2, 2 / x, x**2, x @ x, -x, x // 2, x % 2, ~(x > 0), x & x):
    assert_type(t, Tensor)
for t in (x == x, x != 1, x < 1, x[0], x[x > 0], x.T, x.real, x.data, abs(x)):
    assert_type(t, Tensor)
for t in (x.sum(), x.mean(dim=0), x.max(), x.std(), x.argmax(0), x.any(), torch.linalg.norm(x)):
    assert_type(t, Tensor)
for t in (x.view(-1), x.reshape(1, 2), x.unsqueeze(0), x.permute(0), x.detach(), x.clone()):
    assert_type(t, Tensor)
for t in (x.to("cpu"), x.float(), x.exp(), x.add_(1), x.exp_(), x.unsqueeze_(0), x.uniform_()):
    assert_type(t, Tensor)
for t in (torch.cat([x, x]), torch.stack([x]), torch.where(x > 0, x, 0), torch.einsum("i->", x)):
    assert_type(t, Tensor)
for t in (F.softmax(x, dim=0), F.mse_loss(x, x), F.linear(x, x), F.dropout(x), torch.fft.fft(x)):
    assert_type(t, Tensor)
x += 1
assert_type(x, Tensor)
assert_type(x.sum(axis=0), Tensor)
assert_type(x.split(1), tuple[Tensor, ...])
assert_type(torch.where(x > 0), tuple[Tensor, ...])
assert_type(x.size(0), int)
assert_type(x.size(), torch.Size)
assert_type(x.max(dim=0), Any)
assert_type(F.max_pool2d(x, 2, return_indices=True), Any)
assert_type(Parameter(x), Parameter)
assert_type(next(Net().parameters()), Parameter)
assert_type(torch.distributions.Normal(0.0, 1.0).sample(), Tensor)
assert_type(torch.autograd.grad(x.sum(), x), tuple[Tensor, ...])
assert_type(Parameter(x) * 2, Tensor)
if x.grad is not None:
    x.grad.zero_()
x.grad = None
x.summ()  # wrong
"""


def test_names_and_decorators(tmp_path: Path) -> None:
    """`mypy --strict` on correct code, of which the lines that end with "wrong" are not."""
    pytest.importorskip("mypy")
    scripts = {"functions.py": FUNCTIONS, "tensors.py": TENSORS}
    for name, text in scripts.items():
        (tmp_path / name).write_text(text)
    options = ["--strict", "--no-incremental", "--config-file=", "--no-error-summary"]
    run = subprocess.run(
        [sys.executable, "-m", "mypy", *options, *scripts],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line for line in run.stdout.splitlines() if ": error:" in line]
    found = [tuple(line.split(":")[:2]) for line in lines if line.startswith(tuple(scripts))]
    wrong = [
        (name, str(number))
        for name, text in scripts.items()
        for number, line in enumerate(text.splitlines(), 1)
        if line.endswith("# wrong")
    ]
    assert sorted(set(found)) == sorted(wrong), run.stdout + run.stderr


LISTED = """
import funcgrad, compat
for module in (funcgrad, funcgrad.nn, funcgrad.ops, funcgrad.scipy, funcgrad.testing):
    assert set(module.__all__) <= set(dir(module)), module
assert {"distributions", "masked", "profiler", "signal"} <= set(dir(compat))
"""


def test_names_that_are_loaded_late_are_listed() -> None:
    subprocess.run([sys.executable, "-c", LISTED], cwd=ROOT, check=True)
