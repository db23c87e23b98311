"""Modules as data, and what every one of them must have in common with PyTorch's.

A `Case` says how a module is made and called. `check_signature` compares the arguments, `check_module`
the names and shapes of parameters and buffers, the outputs, all gradients, and state dicts both
ways, in float32 and float64; both start from PyTorch's parameters.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np

import compat

try:
    torch: Any = importlib.import_module("torch")
except ImportError:
    torch = None

TOLERANCE = {"float32": 1e-5, "float64": 1e-10}


class Case:
    """`name`: under `nn`. `inputs`: shapes of normal numbers, or arrays as they are (integers)."""

    def __init__(
        self, name: str, *args: Any, inputs: Sequence[Any], train: bool = True, **options: Any
    ) -> None:
        self.name, self.args, self.options = name, args, options
        self.inputs = inputs
        self.train = train

    def __repr__(self) -> str:
        given = [*map(repr, self.args), *(f"{k}={v!r}" for k, v in self.options.items())]
        shapes = [x if isinstance(x, tuple) else x.shape for x in self.inputs]
        return (
            f"{self.name}({', '.join(given)}) of {shapes}{'' if self.train else ' in evaluation'}"
        )

    def make(self, th: Any, dtype: str) -> Any:
        th.manual_seed(0)
        module = getattr(th.nn, self.name)(*self.args, **self.options)
        return module.to(getattr(th, dtype)).train(self.train)

    def arrays(self, dtype: str) -> list[np.ndarray]:
        rng = np.random.default_rng(len(repr(self)))
        return [
            rng.normal(size=x).astype(dtype) if isinstance(x, tuple) else np.asarray(x)
            for x in self.inputs
        ]


def parameters_of(f: Any) -> list[tuple[str, Any]]:
    """Names and defaults."""
    found = inspect.signature(f).parameters.values()
    return [(p.name, repr(p.default)) for p in found if p.name not in ("self", "args", "kwargs")]


def check_signature(name: str) -> None:
    """The constructor has PyTorch's arguments, in its order, with its defaults."""
    ours, theirs = (getattr(th.nn, name).__init__ for th in (compat, torch))
    assert parameters_of(ours) == parameters_of(theirs)


def outputs(found: Any) -> list[Any]:
    """The tensors of a result, nested tuples included."""
    if isinstance(found, tuple | list):
        return [t for x in found for t in outputs(x)]
    return [] if found is None else [found]


def run(th: Any, module: Any, arrays: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
    """Outputs, gradients of inputs and parameters, and the state afterwards, by name."""
    inputs = [th.tensor(a).requires_grad_(a.dtype.kind == "f") for a in arrays]
    outs = outputs(module(*inputs))
    found = {f"out{i}": x.detach().numpy() for i, x in enumerate(outs)}
    loss = sum((x * th.cos(x)).sum() for x in outs if x.is_floating_point())
    if getattr(loss, "requires_grad", False):
        loss.backward()
    given = [(f"input{i}", x) for i, x in enumerate(inputs)]
    for name, x in (*given, *module.named_parameters()):
        if x.grad is not None:
            found[f"{name}.grad"] = x.grad.numpy()
    found.update((f"{k} after", v.numpy()) for k, v in module.state_dict().items())
    return found


def check_module(case: Case) -> None:
    """The same parameters, outputs, gradients and state as PyTorch's module."""
    for dtype, tolerance in TOLERANCE.items():
        theirs, ours = case.make(torch, dtype), case.make(compat, dtype)
        state = {k: v.numpy() for k, v in theirs.state_dict().items()}
        assert {k: v.shape for k, v in state.items()} == {
            k: tuple(v.shape) for k, v in ours.state_dict().items()
        }
        ours.load_state_dict({k: compat.tensor(v) for k, v in state.items()})
        back = {k: torch.tensor(v.numpy()) for k, v in ours.state_dict().items()}
        theirs.load_state_dict(back)
        assert repr(ours) == repr(theirs)
        arrays = case.arrays(dtype)
        found, expected = run(compat, ours, arrays), run(torch, theirs, arrays)
        assert found.keys() == expected.keys()
        for name, value in expected.items():
            assert found[name].shape == value.shape and found[name].dtype == value.dtype, name
            scale = max(1.0, float(np.max(np.abs(value), initial=0.0)))
            np.testing.assert_allclose(
                found[name], value, rtol=tolerance, atol=tolerance * scale, err_msg=name
            )
