"""`compat.distributions` against PyTorch's, from the table in `test_distributions_table`."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_distributions_table import BETTER, CASES, ROUGH, Case

import compat
from compat import distributions as ours

torch: Any = pytest.importorskip("torch")
theirs: Any = importlib.import_module("torch.distributions")

BOTH = ((compat, ours), (torch, theirs))
IDS = [f"{i}-{c.name}" for i, c in enumerate(CASES)]


def _value(module: Any, x: Any, grad: bool = False) -> Any:
    if not isinstance(x, np.ndarray):
        return x
    found = module.tensor(x.tolist(), dtype=module.float64 if x.dtype.kind == "f" else module.int64)
    return found.requires_grad_() if grad else found


def _build(module: Any, family: Any, c: Case, **changes: Any) -> tuple[Any, list[Any]]:
    """The distribution of a case, and its parameters that require grad."""
    given = {
        k: _value(module, v, grad=k != "total_count")
        for k, v in {**c.parameters, **changes}.items()
    }
    leaves = [v for v in given.values() if hasattr(v, "grad_fn") and v.requires_grad]
    return getattr(family, c.name)(**given), leaves


def _outcome(f: Callable[[], Any]) -> Any:
    """What a call gives: an array, or the type of what it raises."""
    try:
        found = f()
    except Exception as error:
        return type(error)
    return found.detach().numpy() if hasattr(found, "detach") else found


def _assert_same(c: Case, what: str, mine: Any, wanted: Any) -> None:
    if isinstance(wanted, np.ndarray):
        assert isinstance(mine, np.ndarray)
        assert mine.shape == wanted.shape and mine.dtype == wanted.dtype
        tolerance = ROUGH.get((c.name, what), 1e-10)
        np.testing.assert_allclose(mine, wanted, rtol=tolerance, atol=tolerance)
    else:
        assert mine == wanted


READ: dict[str, Callable[[Any, Any, Any], Any]] = {
    "log_prob": lambda m, d, c: d.log_prob(_value(m, c.values)),
    "cdf": lambda m, d, c: d.cdf(_value(m, c.values)),
    "icdf": lambda m, d, c: d.icdf(_value(m, np.linspace(0.1, 0.9, 3))),
    "entropy": lambda m, d, c: d.entropy(),
    "perplexity": lambda m, d, c: d.perplexity(),
    "mean": lambda m, d, c: d.mean,
    "mode": lambda m, d, c: d.mode,
    "variance": lambda m, d, c: d.variance,
    "stddev": lambda m, d, c: d.stddev,
    "support": lambda m, d, c: d.support.check(_value(m, c.values)),
    "enumerate_support": lambda m, d, c: d.enumerate_support(),
    "folded_support": lambda m, d, c: d.enumerate_support(expand=False),
    "shapes": lambda m, d, c: (tuple(d.batch_shape), tuple(d.event_shape)),
    "flags": lambda m, d, c: (bool(d.has_rsample), bool(d.has_enumerate_support)),
    "sets": lambda m, d, c: sorted(d.arg_constraints),
    "repr_of_support": lambda m, d, c: repr(d.support).split("(")[0],
}


@pytest.mark.parametrize("what", READ)
@pytest.mark.parametrize("c", CASES, ids=IDS)
def test_values(c: Case, what: str) -> None:
    mine, wanted = (
        _outcome(lambda m=m, f=f: READ[what](m, _build(m, f, c)[0], c)) for m, f in BOTH
    )
    if (c.name, what) in BETTER:
        assert isinstance(wanted, type) or not np.isfinite(wanted).all()
        given = BETTER[c.name, what]
        wanted = np.where(np.array(given) == 0, np.nan, given) if given else mine
    _assert_same(c, what, mine, wanted)


@pytest.mark.parametrize("what", ["log_prob", "entropy", "mean", "variance"])
@pytest.mark.parametrize(
    "c",
    [c for c in CASES if (c.name, "log_prob") not in BETTER],
    ids=lambda c: getattr(c, "name", c),
)
def test_gradients_by_parameters(c: Case, what: str) -> None:
    found = []
    for module, family in BOTH:
        d, leaves = _build(module, family, c)
        y = _outcome(lambda d=d, m=module: READ[what](m, d, c))
        if isinstance(y, type):
            found.append(y)
            continue
        y = READ[what](module, d, c)
        y = y.masked_fill(~y.isfinite(), 0.0).sum()
        slopes = [None] * len(leaves)
        if y.requires_grad:
            slopes = module.autograd.grad(y, leaves, allow_unused=True)
        found.append([np.zeros(()) if g is None else g.detach().numpy() for g in slopes])
    if isinstance(found[1], type):
        assert found[0] == found[1]
        return
    tolerance = max(ROUGH.get((c.name, what), 0), 1e-9 if what == "entropy" else 1e-10)
    for mine, wanted in zip(*found, strict=True):
        if "scale_tril" in c.parameters and mine.ndim > 1:  # PyTorch has slopes above the diagonal
            mine, wanted = np.tril(mine), np.tril(wanted)
        known = np.isfinite(wanted)  # where a branch not taken is not finite, PyTorch has NaN
        mine, wanted = np.where(known, mine, 0), np.where(known, wanted, 0)
        np.testing.assert_allclose(mine, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("c", CASES, ids=IDS)
def test_expand(c: Case) -> None:
    found = []
    for module, family in BOTH:
        d, _ = _build(module, family, c)
        wide = d.expand((4, *d.batch_shape))
        assert type(wide) is type(d)
        found.append(_outcome(lambda w=wide, m=module: READ["log_prob"](m, w, c)))
        if module is compat:
            assert wide.sample((2,)).shape == (2, 4, *d.batch_shape, *d.event_shape)
    if (c.name, "log_prob") in BETTER:
        found[1] = np.broadcast_to(
            _outcome(lambda: READ["log_prob"](compat, d_of(c), c)), found[0].shape
        )
    _assert_same(c, "log_prob", *found)


def d_of(c: Case) -> Any:
    return _build(compat, ours, c)[0]


@pytest.mark.parametrize("c", [c for c in CASES if c.bad], ids=lambda c: c.name)
def test_invalid_parameters(c: Case) -> None:
    mine, wanted = (_outcome(lambda m=m, f=f: _build(m, f, c, **c.bad)[0]) for m, f in BOTH)
    assert mine.__name__ == wanted.__name__.lstrip("_") and issubclass(
        mine, ValueError | RuntimeError
    )
    mine, wanted = (
        _outcome(lambda m=m, f=f: repr(_build(m, f, c, **c.bad, validate_args=False)[0]))
        for m, f in BOTH
    )
    shown = [x.__name__.lstrip("_") if isinstance(x, type) else x for x in (mine, wanted)]
    assert shown[0] == shown[1]


@pytest.mark.parametrize("c", [c for c in CASES if c.bad_value is not None], ids=lambda c: c.name)
def test_invalid_values(c: Case) -> None:
    for module, family in BOTH:
        d, _ = _build(module, family, c)
        with pytest.raises(ValueError):
            d.log_prob(_value(module, c.bad_value))
        with pytest.raises(ValueError):
            d.log_prob(_value(module, np.zeros((7, 5, 11))))


@pytest.mark.parametrize("name", theirs.__all__)
def test_signatures(name: str) -> None:
    mine, wanted = getattr(ours, name), getattr(theirs, name)
    if not inspect.isclass(wanted):
        return
    for method in ("__init__", "expand", "rsample", "sample", "log_prob", "enumerate_support"):
        if hasattr(wanted, method):
            a, b = (inspect.signature(getattr(k, method)).parameters for k in (mine, wanted))
            shown = [[(k, p.default, p.kind) for k, p in s.items()] for s in (a, b)]
            assert shown[0] == shown[1]


MODULES = ["constraints", "transforms", "utils", "kl", "constraint_registry"]


def test_all_public_names() -> None:
    assert set(theirs.__all__) <= set(dir(ours))
    assert sorted(ours.__all__) == sorted(theirs.__all__)
    for module in MODULES:
        wanted = importlib.import_module(f"torch.distributions.{module}")
        mine = importlib.import_module(f"compat.distributions.{module}")
        assert set(wanted.__all__ if hasattr(wanted, "__all__") else ()) <= set(dir(mine))


def test_modules_have_pytorchs_names() -> None:
    folder = Path(theirs.__file__).parent
    for module in (p.stem for p in folder.glob("*.py") if p.stem != "__init__"):
        wanted = importlib.import_module(f"torch.distributions.{module}")
        mine = importlib.import_module(f"compat.distributions.{module}")
        assert set(getattr(wanted, "__all__", ())) <= set(dir(mine)), module


FROM_BELOW = {"log_gamma_at", "t"}


def test_no_derivative_is_written_here() -> None:
    """Everything is composed: no module imports what rules of differentiation are made with."""
    for path in Path(ours.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                names = {a.name for a in node.names}
                assert not (node.module or "").startswith("funcgrad") or names <= FROM_BELOW
                assert not names & {"record", "Function", "composed", "elementwise"}
            if isinstance(node, ast.Attribute):
                assert node.attr not in ("Function", "register_hook", "custom_jvp", "custom_vjp")
