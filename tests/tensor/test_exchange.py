"""Tensors in NumPy's files, and handed to PyTorch itself and back."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.optimize

import compat
from compat import npz
from compat.serialization.names import CheckpointError

try:
    torch: Any = importlib.import_module("torch")
except ImportError:
    torch = None

needs_torch = pytest.mark.skipif(torch is None, reason="compares with PyTorch")
DTYPES = ["float64", "float32", "float16", "complex64", "int64", "int32", "uint8", "bool"]


def example(dtype: str) -> Any:
    return compat.tensor(np.arange(6).reshape(2, 3).astype(dtype))


@pytest.mark.parametrize("compressed", [False, True])
def test_npz_files_hold_tensors(tmp_path: Path, compressed: bool) -> None:
    tensors = {f"layer.{d}": example(d) for d in DTYPES} | {
        "empty": compat.zeros(0, 2),
        "": example("bool"),
        "file": compat.ones(2),
        "allow_pickle": compat.zeros(2),
    }
    tensors["transposed"], tensors["number"] = example("float32").t(), compat.tensor(2.5)
    tensors["weight"] = compat.ones(2, requires_grad=True)
    npz.save_file(tensors, tmp_path / "x.npz", compressed)
    found = npz.load_file(tmp_path / "x.npz")
    assert list(found) == list(tensors)
    for name, x in tensors.items():
        assert found[name].dtype == x.dtype and not found[name].requires_grad
        np.testing.assert_array_equal(found[name].numpy(), x.detach().numpy())
    with np.load(tmp_path / "x.npz") as file:  # NumPy reads it
        assert file["number"] == 2.5


def test_npz_state_dicts(tmp_path: Path) -> None:
    model, other = compat.nn.Linear(2, 3), compat.nn.Linear(2, 3)
    npz.save_file(model.state_dict(), tmp_path / "model.npz")
    other.load_state_dict(npz.load_file(tmp_path / "model.npz"))
    assert compat.equal(model.weight, other.weight)


def test_what_npz_files_cannot_hold(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    for bad, message in (
        ({"x": np.ones(2)}, "needs tensors by name, found 'x': ndarray"),
        ({1: compat.ones(2)}, "needs tensors by name, found 1"),
    ):
        with pytest.raises(TypeError, match=message):
            npz.save_file(bad, path)
    np.savez(path, x=np.array([{}], object))
    with pytest.raises(CheckpointError, match="no npz file of numbers"):
        npz.load_file(path)
    np.savez(path, x=np.zeros(2, np.uint16))
    with pytest.raises(TypeError, match="uint16"):
        npz.load_file(path)
    np.save(tmp_path / "x.npy", np.ones(2))
    with pytest.raises(CheckpointError, match="holds one array"):
        npz.load_file(tmp_path / "x.npy")
    (tmp_path / "y").write_bytes(b"something else")
    with pytest.raises(CheckpointError):
        npz.load_file(tmp_path / "y")


@needs_torch
@pytest.mark.parametrize("dtype", DTYPES)
def test_memory_is_shared_with_pytorch(dtype: str) -> None:
    x = torch.arange(6).reshape(2, 3).to(getattr(torch, dtype))
    y = compat.from_torch(x)
    z = compat.to_torch(y)
    assert isinstance(y, compat.Tensor) and isinstance(z, torch.Tensor) and z.dtype == x.dtype
    np.testing.assert_array_equal(y.numpy(), x.numpy())
    x[1, 2] = 0
    assert y[1, 2] == 0 and z[1, 2] == 0


@needs_torch
def test_leaves_stay_leaves() -> None:
    w = torch.nn.Linear(2, 3).weight
    ours = compat.from_torch(w)
    assert ours.requires_grad and ours.is_leaf
    ours.sum().backward()
    assert w.grad is None
    back = compat.to_torch(compat.nn.Linear(2, 3).weight)
    assert back.requires_grad and back.is_leaf


@needs_torch
def test_what_cannot_be_exchanged() -> None:
    with pytest.raises(TypeError, match="found Tensor"):
        compat.from_torch(compat.ones(2))
    with pytest.raises(TypeError, match="found ndarray"):
        compat.to_torch(np.ones(2))


def test_the_stand_in_is_not_pytorch() -> None:
    program = "import sys, compat; sys.modules['torch'] = compat; compat.to_torch(compat.ones(2))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "ImportError: to_torch needs PyTorch itself, but compat stands in" in done.stderr


# ---------------------------------------------------------------- NumPy and SciPy on constants

FUNCTIONS = (
    *(np.atleast_1d, np.ravel, np.sort, np.unique, np.isclose, np.array_equal, np.median),
    *(np.linalg.norm, np.outer, np.squeeze, np.zeros_like),
)


@needs_torch
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_functions_of_constants_give_arrays_where_pytorch_does(f: Any) -> None:
    both = f in (np.isclose, np.array_equal, np.outer)
    ours, theirs = (f(x, x) if both else f(x) for x in (compat.ones(2, 1), torch.ones(2, 1)))
    assert isinstance(ours, compat.Tensor) == isinstance(theirs, torch.Tensor)
    assert isinstance(ours, compat.Tensor) or type(ours) is type(theirs)
    np.testing.assert_array_equal(np.asarray(ours), np.asarray(theirs))


def test_functions_of_tensors_with_a_history_keep_it() -> None:
    x = compat.ones(2, requires_grad=True)
    y = np.concatenate([x, compat.zeros(1)])
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
    assert isinstance(np.zeros(2, like=compat.ones(1)), compat.Tensor)


@pytest.mark.parametrize("method", ["L-BFGS-B", "BFGS", "SLSQP", "Newton-CG", "TNC"])
def test_optimizers_take_a_gradient_that_is_a_tensor(method: str) -> None:
    def f(x: np.ndarray) -> tuple[float, Any]:
        t = compat.tensor(x, requires_grad=True)
        loss = ((t - 1) ** 4).sum() + t.prod()
        return loss.item(), compat.autograd.grad(loss, t)[0]

    found = scipy.optimize.minimize(f, np.array([0.3, 0.4]), jac=True, method=method)
    np.testing.assert_allclose(found.x, [0.5, 0.5], atol=1e-3)


@pytest.mark.parametrize("library", ["compat", "torch"])
def test_what_comes_from_a_capsule_may_be_written(library: str) -> None:
    dlpack = pytest.importorskip(f"{library}.utils.dlpack")
    x = pytest.importorskip(library).zeros(3)
    y = dlpack.from_dlpack(dlpack.to_dlpack(x))
    y[0] += 20.0
    assert x.tolist() == [20.0, 0.0, 0.0]
