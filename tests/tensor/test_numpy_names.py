"""`axis` for `dim` and `keepdims` for `keepdim`: what takes them in PyTorch takes them here."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from outcomes import both, module

import compat


@both()
def torch(request: pytest.FixtureRequest) -> Iterator[Any]:
    yield module(request.param)


# What a call needs besides the tensor and `dim`; where there is none, nothing.
ROWS = "torch.tensor([1, 0])"
PLACES = "torch.tensor([[1, 0, 0, 1]])"
PART = "torch.ones(1, 4)"
NEEDED = {
    "cosine_similarity": "x",
    "chunk": "2",
    "cross": "x + 1",
    "diff": "1",
    "gather": f"index={PLACES}",
    "index_add": f"index={ROWS}, source=x[:2] * 1",
    "index_copy": f"index={ROWS}, source=x[:2] * 1",
    "index_fill": f"index={ROWS}, value=1",
    "index_reduce": f"index={ROWS}, source=x[:2] * 1, reduce='prod'",
    "index_select": f"index={ROWS}",
    "kthvalue": "1",
    "narrow": "start=0, length=1",
    "narrow_copy": "start=0, length=1",
    "nanquantile": "0.5",
    "quantile": "0.5",
    "renorm": "p=2, maxnorm=1.0",
    "repeat_interleave": "2",
    "scatter": f"index={PLACES}, src={PART}",
    "scatter_add": f"index={PLACES}, src={PART}",
    "scatter_reduce": f"index={PLACES}, src={PART}, reduce='sum'",
    "select": "index=0",
    "select_copy": "index=0",
    "select_scatter": "x[0], index=0",
    "slice_scatter": "x",
    "split": "2",
    "split_copy": "2",
    "split_with_sizes": "[1, 2]",
    "split_with_sizes_copy": "[1, 2]",
    "take_along_dim": f"{PLACES}",
    "tensor_split": "2",
    "topk": "1",
    "unflatten": "sizes=(1, 3)",
    "unsafe_chunk": "2",
    "unsafe_split": "2",
    "unsafe_split_with_sizes": "[1, 2]",
    "vecdot": "x",
}
# PyTorch has these in Python, where a name is a name.
IN_PYTHON = {"norm", "split", "unique", "unique_consecutive"}
SPACES = ["torch", "torch.linalg", "torch.fft", "torch.special", "torch.nn.functional"]


def parameters(f: Any) -> tuple[str, ...]:
    while hasattr(f, "__wrapped__"):
        f = f.__wrapped__
    code = getattr(f, "__code__", None)
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if code else ()


def calls() -> Iterator[str]:
    """One call with `dim` of every function and method that has the parameter."""
    for space in SPACES:
        owner = eval(space, {"torch": compat})
        for name in owner.__dict__ if space == "torch" else owner.__all__:
            f = getattr(owner, name)
            if name[0] != "_" and not isinstance(f, type) and "dim" in parameters(f):
                first = "[x]" if name in ("cat", "concat", "concatenate", "stack") else "x"
                needed = NEEDED.get(name, "x" if "slice_scatter" in name else "")
                dim = "(0, 1)" if name == "matrix_norm" else 1 if name == "glu" else 0
                yield f"{space}.{name}({first}{needed and ', '}{needed}, dim={dim})"
    for name in dir(compat.Tensor):
        if name[0] == "_" or name == "unflatten":  # it is in Python there, as a method
            continue
        if "dim" in parameters(getattr(compat.Tensor, name)):
            needed = NEEDED.get(name.rstrip("_"), "")
            yield f"x.{name}({needed}{needed and ', '}dim=0)"


def evaluated(library: Any, expression: str) -> Any:
    return eval(expression, {"torch": library, "x": library.tensor(MATRIX)})


MATRIX = [[1.0, 2.0, 4.0, 3.0], [0.5, 3.0, 1.0, 2.0], [5.0, 1.0, 2.0, 0.0]]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("expression", sorted(set(calls())))
def test_axis(torch: Any, expression: str) -> None:
    name = expression.partition("(")[0].rpartition(".")[2]
    expected = evaluated(torch, expression)
    other = expression.replace("dim=", "axis=")
    in_python = name in IN_PYTHON and not expression.startswith("torch.linalg")
    functional = expression.startswith("torch.nn.functional") and "cosine_sim" not in expression
    if in_python or functional:
        with pytest.raises(TypeError, match="axis"):
            evaluated(torch, other)
        return
    assert repr(evaluated(torch, other)) == repr(expected)


KEPT = [
    "torch.sum(x, axis=1, keepdims=True)",
    "x.mean(1, keepdims=True)",
    "x.max(axis=0, keepdims=True)",
]
KEPT += [
    "torch.nn.functional.pairwise_distance(x, x, keepdims=True)",
    "x.std(axis=1, keepdims=True)",
]


@pytest.mark.parametrize("expression", KEPT)
def test_keepdims(torch: Any, expression: str) -> None:
    ours = expression.replace("axis=", "dim=").replace("keepdims=", "keepdim=")
    assert repr(evaluated(torch, expression)) == repr(evaluated(torch, ours))


TWICE = [
    "torch.sum(x, dim=1, axis=1)",
    "x.argmax(dim=1, axis=1)",
    "x.amax(0, keepdim=True, keepdims=True)",
]


@pytest.mark.parametrize("expression", [*TWICE, "x.sum(0, axis=0)", "torch.stack([x], 0, axis=0)"])
def test_both_names(torch: Any, expression: str) -> None:
    with pytest.raises(TypeError):
        evaluated(torch, expression)


def test_functions_are_found_where_they_are_offered() -> None:
    offered: list[Callable[..., Any]] = [compat.softmax, compat.fft.fft, compat.Tensor.cumsum_]
    assert pickle.loads(pickle.dumps(offered)) == offered
    assert compat.special.softmax is compat.softmax is compat.Tensor.softmax
