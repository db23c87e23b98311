"""Losses: against differences and PyTorch, by hand, and at the ends of their ranges."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import numpy as np
import pytest
from harness import C, Call, Draw, F, I, call, check
from hypothesis import given
from hypothesis import strategies as st

import compat

try:
    torch: Any = importlib.import_module("torch")
except ImportError:
    torch = None

LIBRARIES = [pytest.param(compat, id="compat")]
if torch is not None:
    LIBRARIES.append(pytest.param(torch, id="torch"))


@pytest.fixture(params=LIBRARIES)
def th(request: pytest.FixtureRequest) -> Any:
    return request.param


def P(*shape: int, grad: bool = True) -> Draw:
    """Probabilities, away from 0 and 1."""
    return F(*shape, low=0.05, high=0.95, grad=grad)


def W(*shape: int) -> Draw:
    """Positive weights, which need no gradient."""
    return F(*shape, low=0.5, high=2.0, grad=False)


def Classes(*shape: int, of: int = 4) -> Draw:
    return I(*shape, low=0, high=of)


def f(name: str, *args: Any, **kwargs: Any) -> Call:
    return call(f"nn.functional.{name}", *args, **kwargs)


REDUCTIONS = ("mean", "sum", "none")
CALLS = [
    *[f("mse_loss", F(3, 4), F(3, 4), reduction=r) for r in REDUCTIONS],
    *[f("l1_loss", F(3, 4), F(3, 4), reduction=r) for r in REDUCTIONS],
    *[f("mse_loss", F(3, 4), F(3, 4), None, None, r, W(3, 4)) for r in REDUCTIONS],
    *[f("l1_loss", F(3, 4), F(3, 4), None, None, r, W(3, 4)) for r in REDUCTIONS],
    f("mse_loss", F(), F()),
    f("mse_loss", F(3, 4), F(4)),
    f("mse_loss", F(0, 4), F(0, 4), reduction="sum"),
    f("l1_loss", F(3, 4), F(3, 1)),
    f("l1_loss", C(3), C(3)),
    *[f("nll_loss", F(5, 4), Classes(5), reduction=r) for r in REDUCTIONS],
    *[f("nll_loss", F(5, 4), Classes(5), W(4), reduction=r) for r in REDUCTIONS],
    *[f("nll_loss", F(5, 4), Classes(5), W(4), ignore_index=2, reduction=r) for r in REDUCTIONS],
    *[f("nll_loss", F(2, 4, 3), Classes(2, 3), reduction=r) for r in REDUCTIONS],
    f("nll_loss", F(2, 4, 3, 2), Classes(2, 3, 2), W(4)),
    f("nll_loss", F(2, 4, 3, 2, 1), Classes(2, 3, 2, 1), ignore_index=1),
    f("nll_loss", F(4), Classes()),
    f("nll_loss", F(4), Classes(), W(4), reduction="none"),
    f("nll_loss", F(0, 4), Classes(0), reduction="sum"),
    f("nll_loss", F(0, 4), Classes(0), reduction="none"),
    *[f("cross_entropy", F(5, 4), Classes(5), reduction=r) for r in REDUCTIONS],
    *[f("cross_entropy", F(5, 4), Classes(5), W(4), reduction=r) for r in REDUCTIONS],
    *[f("cross_entropy", F(5, 4), Classes(5), ignore_index=0, reduction=r) for r in REDUCTIONS],
    *[
        f("cross_entropy", F(6, 4), Classes(6), W(4), ignore_index=1, reduction=r,
          label_smoothing=0.3)
        for r in REDUCTIONS
    ],
    *[f("cross_entropy", F(5, 4), Classes(5), reduction=r, label_smoothing=0.1) for r in REDUCTIONS],
    *[f("cross_entropy", F(5, 4), P(5, 4), reduction=r) for r in REDUCTIONS],
    *[
        f("cross_entropy", F(5, 4), P(5, 4), W(4), reduction=r, label_smoothing=0.2)
        for r in REDUCTIONS
    ],
    *[f("cross_entropy", F(2, 4, 3), P(2, 4, 3), W(4), reduction=r) for r in REDUCTIONS],
    *[f("cross_entropy", F(2, 4, 3), Classes(2, 3), W(4), reduction=r) for r in REDUCTIONS],
    f("cross_entropy", F(2, 4, 3, 2), Classes(2, 3, 2), label_smoothing=0.1, ignore_index=3),
    f("cross_entropy", F(4), Classes()),
    f("cross_entropy", F(4), Classes(), label_smoothing=0.2),
    f("cross_entropy", F(4), P(4)),
    f("cross_entropy", F(4), P(4), reduction="none"),
    f("cross_entropy", F(0, 4), Classes(0), reduction="sum"),
    *[f("binary_cross_entropy", P(3, 2), P(3, 2), reduction=r) for r in REDUCTIONS],
    *[f("binary_cross_entropy", P(3, 2), P(3, 2), W(2), reduction=r) for r in REDUCTIONS],
    f("binary_cross_entropy", P(), P()),
    f("binary_cross_entropy", P(0), P(0), reduction="sum"),
    *[f("binary_cross_entropy_with_logits", F(3, 2), P(3, 2), reduction=r) for r in REDUCTIONS],
    *[
        f("binary_cross_entropy_with_logits", F(3, 2), P(3, 2), W(3, 1), None, None, r, W(2))
        for r in REDUCTIONS
    ],
    f("binary_cross_entropy_with_logits", F(), P()),
    f("softmax", F(2, 3), dim=1),
    f("softmax", F(2, 3), dim=0, dtype="torch.float64"),
    f("log_softmax", F(2, 3), dim=-1),
    f("normalize", F(2, 3)),
    f("normalize", F(2, 3, 2), p=1.0, dim=-1),
    f("normalize", F(2, 3), p=3.0, dim=0, eps=0.5),
    f("normalize", C(2, 3)),
    f("batch_norm", F(4, 3), None, None, W(3), W(3), training=True),
    f("batch_norm", F(4, 3, 2), None, None, F(3), F(3), True),
    f("batch_norm", F(4, 3), W(3), W(3), F(3), F(3), True, 0.3, 0.1),
    f("batch_norm", F(4, 3, 2), W(3), W(3), F(3), None),
    f("batch_norm", F(0, 3), None, None, F(3), F(3), True),
    f("linear", F(4, 3), F(2, 3), F(2)),
    f("relu", F(4, 3)),
]  # fmt: skip


@pytest.mark.parametrize("c", CALLS, ids=repr)
def test_call(c: Call) -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Using a target size", UserWarning)
        check(c)


LOSSES = [
    ("MSELoss", {}, (4, 3), None),
    ("L1Loss", {"reduction": "sum"}, (4, 3), None),
    ("NLLLoss", {"ignore_index": 1}, (4, 3), "classes"),
    ("CrossEntropyLoss", {"label_smoothing": 0.1}, (4, 3), "classes"),
    ("CrossEntropyLoss", {"reduction": "none"}, (4, 3), "classes"),
    ("BCELoss", {}, (4, 3), "probabilities"),
    ("BCEWithLogitsLoss", {"reduction": "none"}, (4, 3), "probabilities"),
]


@pytest.mark.skipif(torch is None, reason="PyTorch is not installed")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "options", "shape", "target"), LOSSES)
def test_modules_as_in_torch(name: str, options: Any, shape: Any, target: Any, dtype: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(0.1, 0.9, shape).astype(dtype)
    if target == "classes":
        y = rng.integers(0, shape[1], shape[0])
    else:
        y = rng.uniform(0.1, 0.9, shape).astype(dtype)
    found = []
    for th in (compat, torch):
        leaf = th.from_numpy(x.copy()).requires_grad_()
        loss = getattr(th.nn, name)(**options)(leaf, th.from_numpy(y))
        loss.sum().backward()
        found.append((loss.detach().numpy(), leaf.grad.numpy()))
    tolerance = 1e-6 if dtype == "float32" else 1e-12
    for a, b in zip(*found, strict=True):
        assert a.dtype == b.dtype == np.dtype(dtype) and a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


# ---------------------------------------------------------------- by hand


def test_values(th: Any) -> None:
    nn, t = th.nn, th.tensor
    assert nn.MSELoss()(t([1.0, 3.0]), t([1.0, 1.0])).item() == 2
    assert nn.L1Loss(reduction="sum")(t([1.0, 3.0]), t([0.0, 1.0])).item() == 3
    log_p = th.log(t([[0.5, 0.5], [0.1, 0.9]]))
    loss = nn.NLLLoss(weight=t([1.0, 3.0]))(log_p, t([0, 1]))
    assert loss.item() == pytest.approx((np.log(2) - 3 * np.log(0.9)) / 4, rel=1e-6)
    loss = nn.CrossEntropyLoss(reduction="none")(th.log(t([[1.0, 3.0]])), t([1]))
    assert loss.tolist() == pytest.approx([np.log(4 / 3)], rel=1e-6)
    assert nn.BCELoss()(t([0.25]), t([1.0])).item() == pytest.approx(np.log(4), rel=1e-6)
    loss = nn.BCEWithLogitsLoss(pos_weight=t([3.0]))(t([0.0]), t([1.0]))
    assert loss.item() == pytest.approx(3 * np.log(2), rel=1e-6)


NODES = [
    ("mse_loss(x, y)", "MseLossBackward0"),
    ("mse_loss(x, y, reduction='none')", "MseLossBackward0"),
    ("l1_loss(x, y)", "MeanBackward0"),
    ("nll_loss(x, c)", "NllLossBackward0"),
    ("nll_loss(x, c, reduction='none')", "NllLossBackward0"),
    ("cross_entropy(x, c)", "NllLossBackward0"),
    ("cross_entropy(x, y, reduction='sum')", "NegBackward0"),
    ("cross_entropy(x, c, label_smoothing=0.1)", "AddBackward0"),
    ("cross_entropy(x[:, :, None], c[:, None])", "NllLoss2DBackward0"),
    ("binary_cross_entropy(x, y)", "BinaryCrossEntropyBackward0"),
    ("binary_cross_entropy_with_logits(x, y)", "BinaryCrossEntropyWithLogitsBackward0"),
    ("normalize(x)", "DivBackward0"),
    ("batch_norm(x, None, None, training=True)", "NativeBatchNormBackward0"),
    ("linear(x, x)", "MmBackward0"),
    ("log_softmax(x, 1)", "LogSoftmaxBackward0"),
]


@pytest.mark.parametrize(("code", "node"), NODES, ids=[c for c, _ in NODES])
def test_node_names(th: Any, code: str, node: str) -> None:
    x = th.tensor([[0.25, 0.75], [0.5, 0.5]], requires_grad=True)
    names = {"x": x, "y": x.detach() / 2, "c": th.tensor([0, 1])}
    out = eval(f"F.{code}", {"F": th.nn.functional, **names})
    assert out.grad_fn.name() == node


# ---------------------------------------------------------------- ends of ranges


def test_logits_of_any_size(th: Any) -> None:
    f = th.nn.functional
    x = th.tensor([-1e4, 0.0, 1e4], requires_grad=True)
    for y in (0.0, 1.0):
        loss = f.binary_cross_entropy_with_logits(x, th.full((3,), y), reduction="none")
        assert loss.tolist() == pytest.approx([1e4 * y, np.log(2), 1e4 * (1 - y)], rel=1e-6)
        (g,) = th.autograd.grad(loss.sum(), x)
        assert g.tolist() == pytest.approx([0 - y, 0.5 - y, 1 - y], abs=1e-6)
    x = th.tensor([[1e4, -1e4]], requires_grad=True)
    for c in (0, 1):
        loss = f.cross_entropy(x, th.tensor([c]))
        assert loss.item() == 2e4 * c
        (g,) = th.autograd.grad(loss, x)
        assert g.tolist() == [[float(c), -float(c)]] or (c == 0 and not g.any())


def test_probabilities_of_zero_and_one(th: Any) -> None:
    f = th.nn.functional
    x = th.tensor([0.0, 1.0, 0.0, 1.0], requires_grad=True)
    y = th.tensor([0.0, 1.0, 1.0, 0.0])
    loss = f.binary_cross_entropy(x, y, reduction="none")
    assert loss.tolist() == [0.0, 0.0, 100.0, 100.0]
    loss.sum().backward()
    assert np.allclose(x.grad.numpy(), [0, 0, -1e12, 1e12])
    logits = th.tensor([-200.0, 200.0], requires_grad=True)
    f.binary_cross_entropy(th.sigmoid(logits), th.tensor([1.0, 0.0])).backward()
    assert logits.grad.tolist() == [0.0, 0.0]


ENDS = [0.0, 1.0, 1e-13, 1e-40, 1e-45, 3e-12, 1 - 1e-7, 1 - 1e-13]


@pytest.mark.skipif(torch is None, reason="needs PyTorch")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@given(
    x=st.lists(st.sampled_from(ENDS) | st.floats(0, 1), min_size=1, max_size=5),
    y=st.sampled_from([0.0, 0.5, 1.0]),
    weight=st.none() | st.floats(0.5, 2),
    reduction=st.sampled_from(REDUCTIONS),
)
def test_slopes_at_the_ends(
    dtype: str, x: list[float], y: float, weight: float | None, reduction: str
) -> None:
    found = []
    for th in (torch, compat):
        p = th.tensor(x, dtype=getattr(th, dtype), requires_grad=True)
        w = None if weight is None else th.full_like(p, weight)
        loss = th.nn.functional.binary_cross_entropy(p, th.full_like(p, y), w, reduction=reduction)
        (g,) = th.autograd.grad(loss.sum(), p)
        found.append((loss.tolist(), g.tolist()))
    for expected, value in zip(*found, strict=True):
        assert np.allclose(value, expected, rtol=1e-4, atol=1e-7)


def test_probabilities_whose_reciprocal_is_infinite(th: Any) -> None:
    f = th.nn.functional
    for more in ([], [0.0]):
        x = th.tensor([1e-45, 1e-40, 0.5, *more], requires_grad=True)
        for target in (0.0, 1.0):
            y = th.full_like(x, target)
            loss = f.binary_cross_entropy(x, y, reduction="none")
            assert np.allclose(
                loss.tolist()[:3], [[0, 0, 0.69315], [100, 92.1034, 0.69315]][int(target)]
            )
            (g,) = th.autograd.grad(loss.sum(), x)
            assert np.isfinite(g.numpy()).all() and g[2].item() == [2, -2][int(target)]
    logits = th.tensor([-88.0, -90.0, -103.0], requires_grad=True)
    for y in (th.zeros(3), th.ones(3)):
        (g,) = th.autograd.grad(f.binary_cross_entropy(th.sigmoid(logits), y), logits)
        assert np.isfinite(g.numpy()).all()


def test_ignored_targets_do_not_count(th: Any) -> None:
    f, nan = th.nn.functional, float("nan")
    x = th.tensor([[0.0, 1.0], [float("inf"), -float("inf")]], requires_grad=True)
    loss = f.nll_loss(x, th.tensor([1, -100]))
    assert loss.item() == -1
    loss.backward()
    assert x.grad.tolist() == [[0.0, -1.0], [0.0, 0.0]]
    x = th.zeros(2, 3)
    ignored = th.tensor([7, 7])
    for smoothing in (0.0, 0.1):
        loss = f.cross_entropy(x, ignored, ignore_index=7, label_smoothing=smoothing)
        assert str(loss.item()) == str(nan)
        loss = f.cross_entropy(
            x, ignored, ignore_index=7, label_smoothing=smoothing, reduction="sum"
        )
        assert loss.item() == 0
    assert str(f.nll_loss(th.ones(0, 3), th.ones(0).long()).item()) == str(nan)
    assert str(f.mse_loss(th.ones(0), th.ones(0)).item()) == str(nan)


def test_impossible_classes_add_nothing() -> None:
    """PyTorch says NaN here: 0 times the logarithm of 0."""
    x = compat.tensor([[0.0, -float("inf")]], requires_grad=True)
    loss = compat.nn.functional.cross_entropy(x, compat.tensor([[1.0, 0.0]]))
    assert loss.item() == 0


# ---------------------------------------------------------------- errors


ERRORS = [
    ("nll_loss(ones(3, 4), L([0, 1]))", ValueError, "Expected input batch_size (3) to match"),
    ("nll_loss(ones(3, 4), L([0, 1, 4]))", IndexError, "Target 4 is out of bounds."),
    ("nll_loss(ones(3, 4), L([0, 1, -1]))", IndexError, "Target -1 is out of bounds."),
    ("nll_loss(ones(3, 4), ones(3))", RuntimeError, "but got Float"),
    ("nll_loss(ones(3, 4), L([0, 1, 2]).int())", RuntimeError, "but got Int"),
    ("nll_loss(ones(3, 4), L([0, 1, 2]), ones(3))", RuntimeError, "for all 4 classes or no"),
    ("nll_loss(ones(3, 4), ones(3, 4).long())", RuntimeError, "multi-target not supported"),
    ("nll_loss(ones(()), L(0))", ValueError, "Expected 1 or more dimensions (got 0)"),
    ("nll_loss(ones(3, 4, 5), ones(3, 6).long())", RuntimeError, "Expected target size [3, 5]"),
    ("nll_loss(ones(3, 4), L([0, 1, 2]), reduction='x')", ValueError, "x is not a valid value"),
    (
        "nll_loss(ones(3, 4).long(), L([0, 1, 2]))",
        NotImplementedError,
        "not implemented for 'Long'",
    ),
    ("cross_entropy(ones(3, 4), ones(3, 4).long())", RuntimeError, "Expected floating point type"),
    ("cross_entropy(ones(3, 4), L([0, 1, 4]))", IndexError, "Target 4 is out of bounds."),
    (
        "cross_entropy(ones(3, 4), L([0, 1, 4]), label_smoothing=0.1)",
        IndexError,
        "Target 4 is out of bounds.",
    ),
    (
        "cross_entropy(ones(3, 4), L([0, 1, 2]), label_smoothing=1.1)",
        RuntimeError,
        "label_smoothing must be between 0.0 and 1.0. Got: 1.1",
    ),
    (
        "cross_entropy(ones(3, 4), ones(3, 4), ignore_index=3)",
        RuntimeError,
        "ignore_index is not supported for floating point target",
    ),
    (
        "cross_entropy(ones(3, 4), L([0, 1, 2]), ones(4).double())",
        RuntimeError,
        "expected scalar type Float but found Double",
    ),
    ("mse_loss(ones(3), ones(3), reduction='x')", ValueError, "x is not a valid value"),
    ("mse_loss(ones(3).long(), ones(3).long())", NotImplementedError, '"mse_cpu" not implemented'),
    ("mse_loss(ones(3), ones(3), weight=ones(2))", ValueError, "must have the same size"),
    ("l1_loss(ones(3).long(), ones(3).long())", RuntimeError, "could not infer output dtype"),
    ("binary_cross_entropy(ones(3), ones(3, 1))", ValueError, "Using a target size"),
    ("binary_cross_entropy(ones(3) * 2, ones(3))", RuntimeError, "input should be between 0 and 1"),
    (
        "binary_cross_entropy(ones(3), ones(3) * 2)",
        RuntimeError,
        "target should be between 0 and 1",
    ),
    ("binary_cross_entropy(ones(3), ones(3).long())", RuntimeError, "but expected Float"),
    ("binary_cross_entropy_with_logits(ones(3), ones(3, 1))", ValueError, "must be the same as"),
    ("binary_cross_entropy_with_logits(ones(3), ones(3).long())", RuntimeError, "can't be cast"),
    ("dropout(ones(3), 1.5)", ValueError, "probability has to be between 0 and 1, but got 1.5"),
    ("batch_norm(ones(3, 2), None, None)", RuntimeError, "running_mean must be defined"),
    ("batch_norm(ones(1, 2), None, None, None, None, True)", ValueError, "more than 1 value per"),
    ("batch_norm(ones(3, 2), ones(3), ones(2))", RuntimeError, "should contain 2 elements not 3"),
    ("normalize(ones(3))", IndexError, "Dimension out of range"),
    ("normalize(ones(3, 2).long())", RuntimeError, "Expected a floating point or complex tensor"),
]


@pytest.mark.parametrize(("code", "kind", "words"), ERRORS, ids=[c for c, _, _ in ERRORS])
def test_errors(th: Any, code: str, kind: type[Exception], words: str) -> None:
    scope = {"F": th.nn.functional, "ones": th.ones, "L": th.tensor}
    with pytest.raises(kind) as caught:
        eval(f"F.{code}", scope)
    assert words in str(caught.value)


def test_warnings(th: Any) -> None:
    with pytest.warns(UserWarning, match="Using a target size"):
        th.nn.functional.mse_loss(th.ones(3), th.ones(3, 1))
    with pytest.warns(UserWarning, match="please use reduction='sum' instead"):
        assert th.nn.MSELoss(size_average=False).reduction == "sum"
    with pytest.warns(UserWarning, match="please use reduction='none' instead"):
        assert th.nn.functional.l1_loss(th.ones(3), th.ones(3), reduce=False).shape == (3,)


def test_weights_are_not_differentiated() -> None:
    w = compat.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="the derivative for 'weight' is not implemented"):
        compat.nn.functional.cross_entropy(compat.ones(1, 2), compat.tensor([0]), w)


# ---------------------------------------------------------------- the ways a loss is computed


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("classes", [8, 40000])
def test_few_and_many_classes(reduction: str, classes: int) -> None:
    """A product with zeros and ones, or picking by place: the same loss and gradient."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(5, classes)), rng.integers(0, classes, 5)
    leaf = compat.tensor(x, requires_grad=True)
    loss = compat.nn.functional.cross_entropy(leaf, compat.tensor(y), reduction=reduction)
    p = np.exp(x - x.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    rows = np.arange(5)
    expected = -np.log(p[rows, y])
    if reduction != "none":
        expected = getattr(expected, reduction)()
    np.testing.assert_allclose(loss.detach().numpy(), expected, rtol=1e-12)
    loss.sum().backward()
    p[rows, y] -= 1
    scale = 1 / 5 if reduction == "mean" else 1
    np.testing.assert_allclose(leaf.grad.numpy(), p * scale, atol=1e-14)


def test_infinite_logits_of_other_classes(th: Any) -> None:
    """A masked class has no share, and what is not the target's does not count."""
    f, inf = th.nn.functional, float("inf")
    x = th.tensor([[0.0, 0.0, -inf], [1.0, -inf, 1.0]], requires_grad=True)
    loss = f.cross_entropy(x, th.tensor([0, 2]))
    assert loss.item() == pytest.approx(np.log(2), rel=1e-6)
    loss.backward()
    assert x.grad.tolist() == [[-0.25, 0.25, 0.0], [0.25, 0.0, -0.25]]
    x = th.tensor([[inf, 2.0, float("nan")]], requires_grad=True)
    loss = f.nll_loss(x, th.tensor([1]))
    assert loss.item() == -2
    loss.backward()
    assert x.grad.tolist() == [[0.0, -1.0, 0.0]]
    assert f.cross_entropy(th.tensor([[0.0, -inf]]), th.tensor([1])).item() == inf


@pytest.mark.parametrize("half", ["float16", "bfloat16"])
def test_distances_in_half_precision(th: Any, half: str) -> None:
    if not hasattr(th, half):
        pytest.skip("ml_dtypes is not installed")
    f, dtype = th.nn.functional, getattr(th, half)
    x, y = th.tensor([0.5, 3.0], dtype=dtype), th.zeros(2, dtype=dtype)
    for name, expected in (("mse_loss", 4.625), ("l1_loss", 1.75), ("smooth_l1_loss", 1.3125)):
        loss = getattr(f, name)(x, y)
        assert loss.dtype is dtype and loss.item() == pytest.approx(expected, rel=1e-2)
