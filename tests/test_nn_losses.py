"""`funcgrad.nn`'s norms, losses and initializers: PyTorch's and JAX's numbers, and definitions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
from funcgrad import nn, random
from funcgrad.errors import ArgumentError, ConcretizationError, ShapeError
from funcgrad.testing import check_all

CHECKS = ["differentiable", "types", "transpose", "numerical", "jit", "vmap", "second order"]
REDUCTIONS = st.sampled_from(["mean", "sum", "none"])


class Row(NamedTuple):
    """A function as we have it and as PyTorch does, and arguments to differentiate by."""

    ours: Callable[..., Any]
    theirs: Callable[..., Any]
    arguments: Callable[[np.random.Generator, int, int], tuple[np.ndarray, ...]]


def normal(rng: Any, *shape: int) -> np.ndarray:
    return rng.normal(size=shape)


def unit(rng: Any, *shape: int) -> np.ndarray:
    return rng.uniform(0.1, 0.9, shape)


def signs(rng: Any, n: int, c: int) -> np.ndarray:
    return rng.choice([-1.0, 1.0], (n, c))


def like(x: Any, y: np.ndarray) -> np.ndarray:
    """`y` in the precision of `x`."""
    return y.astype(x.dtype) if isinstance(x.dtype, np.dtype) else y


def of_targets(draw: Callable[..., Any], seed: int = 7) -> Callable[..., Any]:
    """Targets that are no arguments: the same for both, of the shape of `x`."""
    return lambda x: like(x, draw(np.random.default_rng(seed), *x.shape))


def classes(x: Any) -> np.ndarray:
    return np.random.default_rng(5).integers(0, x.shape[1], x.shape[:1])


def weights(x: Any) -> np.ndarray:
    return like(x, np.random.default_rng(6).uniform(0.5, 2.0, x.shape[1]))


TWO = lambda rng, n, c: (normal(rng, n, c), normal(rng, n, c))  # noqa: E731
ONE = lambda rng, n, c: (normal(rng, n, c),)  # noqa: E731
COUNTS = of_targets(lambda rng, *s: rng.integers(0, 5, s).astype(float))
SIGNS = of_targets(signs)
UNITS = of_targets(unit)


def share(x: Any) -> Any:
    """Probabilities of classes."""
    y = UNITS(x)
    return y / y.sum(1, keepdims=True)


def flags(x: Any) -> Any:
    return like(x, (SIGNS(x) > 0).astype(float))


def plain(ours: str, theirs: str | None = None, arguments: Any = TWO, **options: Any) -> Row:
    """A loss whose arguments are all differentiated."""
    return Row(
        lambda *xs, **o: getattr(nn, ours)(*xs, **options, **o),
        lambda f, t, *xs, **o: getattr(f, theirs or ours)(*xs, **options, **o),
        arguments,
    )


def targeted(ours: str, theirs: str, target: Any, arguments: Any = ONE, **options: Any) -> Row:
    """A loss with a target that is made of the shape of `x`."""
    return Row(
        lambda x, *xs, **o: getattr(nn, ours)(x, *xs, target(x), **options, **o),
        lambda f, t, x, *xs, **o: getattr(f, theirs)(x, *xs, t(target(x)), **options, **o),
        arguments,
    )


LOSSES: dict[str, Row] = {
    "mse": plain("mean_squared_error", "mse_loss"),
    "mae": plain("mean_absolute_error", "l1_loss"),
    "huber": Row(
        lambda x, y, **o: nn.huber_loss(x, y, 0.7, **o),
        lambda f, t, x, y, **o: f.huber_loss(x, y, delta=0.7, **o),
        TWO,
    ),
    "smooth l1": Row(
        lambda x, y, **o: nn.smooth_l1_loss(x, y, 0.6, **o),
        lambda f, t, x, y, **o: f.smooth_l1_loss(x, y, beta=0.6, **o),
        TWO,
    ),
    "cross entropy": targeted("cross_entropy", "cross_entropy", classes),
    "ignored": targeted("cross_entropy", "cross_entropy", classes, ignore_index=1),
    "smoothed": targeted(
        "cross_entropy", "cross_entropy", classes, ignore_index=0, label_smoothing=0.2
    ),
    "probabilities": targeted("cross_entropy", "cross_entropy", share, label_smoothing=0.1),
    "weighted": Row(
        lambda x, **o: nn.cross_entropy(
            x, classes(x), weight=weights(x), label_smoothing=0.3, ignore_index=1, **o
        ),
        lambda f, t, x, **o: f.cross_entropy(
            x, t(classes(x)), t(weights(x)), label_smoothing=0.3, ignore_index=1, **o
        ),
        ONE,
    ),
    "weighted probabilities": Row(
        lambda x, **o: nn.cross_entropy(x, share(x), weight=weights(x), **o),
        lambda f, t, x, **o: f.cross_entropy(x, t(share(x)), t(weights(x)), **o),
        ONE,
    ),
    "nll": Row(
        lambda x, **o: nn.nll_loss(x, classes(x), weight=weights(x), ignore_index=2, **o),
        lambda f, t, x, **o: f.nll_loss(x, t(classes(x)), t(weights(x)), ignore_index=2, **o),
        ONE,
    ),
    "bce": plain(
        "binary_cross_entropy", arguments=lambda rng, n, c: (unit(rng, n, c), unit(rng, n, c))
    ),
    "bce logits": plain("binary_cross_entropy_with_logits"),
    "positive weight": Row(
        lambda x, **o: nn.binary_cross_entropy_with_logits(x, flags(x), pos_weight=weights(x), **o),
        lambda f, t, x, **o: f.binary_cross_entropy_with_logits(
            x, t(flags(x)), pos_weight=t(weights(x)), **o
        ),
        ONE,
    ),
    "poisson": targeted("poisson_nll_loss", "poisson_nll_loss", COUNTS, full=True),
    "poisson rate": targeted(
        "poisson_nll_loss",
        "poisson_nll_loss",
        COUNTS,
        arguments=lambda rng, n, c: (unit(rng, n, c),),
        log_input=False,
    ),
    "gaussian": plain(
        "gaussian_nll_loss",
        arguments=lambda rng, n, c: (*TWO(rng, n, c), unit(rng, n, c)),
        full=True,
    ),
    "hinge embedding": targeted("hinge_embedding_loss", "hinge_embedding_loss", SIGNS, margin=0.7),
    "ranking": targeted("margin_ranking_loss", "margin_ranking_loss", SIGNS, TWO, margin=0.3),
    "soft margin": targeted("soft_margin_loss", "soft_margin_loss", SIGNS),
    "cosine embedding": targeted(
        "cosine_embedding_loss", "cosine_embedding_loss", lambda x: SIGNS(x)[:, 0], TWO, margin=0.1
    ),
    "triplet": plain(
        "triplet_margin_loss",
        arguments=lambda rng, n, c: (*TWO(rng, n, c), normal(rng, n, c)),
        swap=True,
    ),
    "multi margin": targeted("multi_margin_loss", "multi_margin_loss", classes, p=2, margin=0.6),
    "multilabel margin": Row(
        lambda x, **o: nn.multilabel_margin_loss(x, flags(x), **o),
        lambda f, t, x, **o: f.multilabel_margin_loss(x, t(listed(flags(x))), **o),
        ONE,
    ),
    "multilabel soft": targeted(
        "multilabel_soft_margin_loss", "multilabel_soft_margin_loss", flags
    ),
}


def listed(flags: np.ndarray) -> np.ndarray:
    """The numbers of the classes that are flagged, and -1 behind them."""
    found = np.full(flags.shape, -1)
    for row, flag in zip(found, flags, strict=True):
        places = np.nonzero(flag)[0]
        row[: len(places)] = places
    return found


def affine(rng: Any, c: int) -> tuple[np.ndarray, np.ndarray]:
    return normal(rng, c), normal(rng, c)


NORMS: dict[str, Row] = {
    "layer norm": Row(
        lambda x, w, b: nn.layer_norm(x, w, b, axis=(-2, -1)),
        lambda f, t, x, w, b: f.layer_norm(x, x.shape[-2:], w, b),
        lambda rng, n, c: (normal(rng, n, c, 3), normal(rng, c, 3), normal(rng, c, 3)),
    ),
    "rms norm": Row(
        lambda x, w: nn.rms_norm(x, w),
        lambda f, t, x, w: f.rms_norm(x, x.shape[-1:], w),
        lambda rng, n, c: (normal(rng, n, c), normal(rng, c)),
    ),
    "group norm": Row(
        lambda x, w, b: nn.group_norm(x, 2, w, b),
        lambda f, t, x, w, b: f.group_norm(x, 2, w, b),
        lambda rng, n, c: (normal(rng, n, 2 * c, 3), *affine(rng, 2 * c)),
    ),
    "instance norm": Row(
        lambda x, w, b: nn.instance_norm(x, w, b, eps=1e-3),
        lambda f, t, x, w, b: f.instance_norm(x, weight=w, bias=b, eps=1e-3),
        lambda rng, n, c: (normal(rng, n, c, 2, 2), *affine(rng, c)),
    ),
    "batch norm": Row(
        lambda x, w, b: nn.batch_norm(x, weight=w, bias=b, training=True)[0],
        lambda f, t, x, w, b: f.batch_norm(x, None, None, w, b, True),
        lambda rng, n, c: (normal(rng, n + 1, c, 2), *affine(rng, c)),
    ),
    "batch norm in use": Row(
        lambda x, m, v, w: nn.batch_norm(x, m, v, w)[0],
        lambda f, t, x, m, v, w: f.batch_norm(x, m.detach(), v.detach(), w),
        lambda rng, n, c: (normal(rng, n, c), normal(rng, c), unit(rng, c), normal(rng, c)),
    ),
    "local response": Row(
        lambda x: nn.local_response_norm(x, 3, 0.5, 0.7, 1.5),
        lambda f, t, x: f.local_response_norm(x, 3, 0.5, 0.7, 1.5),
        lambda rng, n, c: (normal(rng, n, c, 2),),
    ),
    "cosine": Row(
        lambda x, y: nn.cosine_similarity(x, y),
        lambda f, t, x, y: f.cosine_similarity(x, y, -1),
        TWO,
    ),
    "embedding": Row(
        lambda x: nn.embedding(classes(x.T), x),
        lambda f, t, x: f.embedding(t(classes(x.T)), x),
        ONE,
    ),
}
ROWS = LOSSES | NORMS


def values_of_ours(f: Callable[..., Any], xs: tuple[np.ndarray, ...]) -> list[Any]:
    """Value, gradients, and gradients of a sum of squares of these."""
    every = tuple(range(len(xs)))
    slopes = funcgrad.grad(lambda *xs: (f(*xs) * np.cos(f(*xs))).sum(), every)
    again = funcgrad.grad(lambda *xs: sum((g**2).sum() for g in slopes(*xs)), every)
    return [f(*xs), *slopes(*xs), *again(*xs)]


def values_of_theirs(f: Callable[..., Any], arrays: tuple[np.ndarray, ...]) -> list[Any]:
    torch = pytest.importorskip("torch")
    xs = [torch.tensor(x, requires_grad=True) for x in arrays]
    y = f(torch.nn.functional, torch.tensor, *xs)
    options = {"allow_unused": True, "materialize_grads": True}
    slopes = torch.autograd.grad((y * y.cos()).sum(), xs, create_graph=True, **options)
    total = sum((g**2).sum() for g in slopes)
    try:
        again = torch.autograd.grad(total, xs, **options)
    except RuntimeError:  # PyTorch has no second derivative of some
        again = ()
    return [z.detach().numpy() for z in (y, *slopes, *again)]


@pytest.mark.parametrize("name", ROWS)
@settings(max_examples=3)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 4),
    c=st.integers(2, 4),
    reduction=REDUCTIONS,
)
def test_as_in_pytorch(name: str, seed: int, n: int, c: int, reduction: str) -> None:
    """Values, first and second derivatives."""
    ours, theirs, arguments = ROWS[name]
    options = {"reduction": reduction} if name in LOSSES else {}
    xs = arguments(np.random.default_rng(seed), n, c)
    with np.errstate(all="ignore"):  # the mean of nothing, where all is ignored
        found = values_of_ours(lambda *xs: ours(*xs, **options), xs)
    expected = values_of_theirs(lambda f, t, *xs: theirs(f, t, *xs, **options), xs)
    if name == "batch norm in use":  # PyTorch has no derivative by the statistics
        found, expected = found[:2], expected[:2]
    for order, (a, b) in enumerate(zip(found, expected, strict="margin" not in name)):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-9, err_msg=f"result {order}")


@pytest.mark.parametrize("name", ROWS)
@settings(max_examples=2)
@given(seed=st.integers(0, 10**6), reduction=REDUCTIONS)
def test_derivatives(name: str, seed: int, reduction: str) -> None:
    """Forward and reverse mode, differences, `jit`, `vmap` and the second order."""
    ours, _, arguments = ROWS[name]
    options = {"reduction": reduction} if name in LOSSES else {}
    xs = arguments(np.random.default_rng(seed), 3, 3)
    check_all(lambda *xs: ours(*xs, **options), xs, only=CHECKS).raise_if_failed()


@pytest.mark.parametrize("name", ROWS)
def test_single_precision_is_kept(name: str) -> None:
    ours, _, arguments = ROWS[name]
    wide = arguments(np.random.default_rng(3), 3, 3)
    xs = tuple(x.astype(np.float32) for x in wide)
    total = lambda *xs: ours(*xs).sum()  # noqa: E731
    found = funcgrad.grad(total)(*xs)
    assert found.dtype == ours(*xs).dtype == np.float32
    np.testing.assert_allclose(found, funcgrad.grad(total)(*wide), rtol=2e-3, atol=1e-4)


# ---------------------------------------------------------------- what PyTorch has otherwise


@given(seed=st.integers(0, 10**6), reduction=st.sampled_from(["batchmean", "sum"]))
def test_divergences_as_in_pytorch(seed: int, reduction: str) -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(seed)
    x, y = normal(rng, 3, 4), rng.dirichlet(np.ones(4), 3)
    ours = "mean" if reduction == "batchmean" else reduction
    for z, log_target in ((y, False), (np.log(y), True)):
        found = nn.kl_divergence(x, z, log_target=log_target, reduction=ours)
        f = torch.nn.functional.kl_div
        expected = f(*map(torch.tensor, (x, z)), reduction=reduction, log_target=log_target)
        np.testing.assert_allclose(found, float(expected), rtol=1e-12)
        f = lambda x, z, o=log_target: nn.kl_divergence(x, z, log_target=o)  # noqa: E731
        check_all(f, (x, z), only=["transpose", "numerical", "jit"]).raise_if_failed()


def test_what_has_no_probability_adds_nothing() -> None:
    """Be it infinitely unlikely."""
    x, y = np.array([0.0, -np.inf]), np.array([1.0, 0.0])
    assert float(nn.kl_divergence(x, y)) == 0.0
    slope = funcgrad.grad(nn.kl_divergence)(x, y)
    np.testing.assert_array_equal(slope, [-1.0, 0.0])
    logits = np.array([[0.0, -np.inf, 0.0]])
    for labels in (np.array([0]), np.array([[0.5, 0.0, 0.5]])):
        found, slopes = funcgrad.value_and_grad(nn.cross_entropy)(logits, labels)
        np.testing.assert_allclose(found, np.log(2))
        assert np.isfinite(slopes).all()


@given(seed=st.integers(0, 10**6), axis=st.sampled_from([0, 1, -1]))
def test_classes_along_any_axis(seed: int, axis: int) -> None:
    rng = np.random.default_rng(seed)
    x, labels = normal(rng, 2, 3, 4), rng.integers(0, 4, (2, 3))
    moved = np.moveaxis(x, -1, axis)
    for reduction in ("mean", "none"):
        options = {"ignore_index": 2, "label_smoothing": 0.1, "reduction": reduction}
        np.testing.assert_allclose(
            nn.cross_entropy(moved, labels, axis=axis, **options),
            nn.cross_entropy(x, labels, **options),
        )


@settings(max_examples=5)
@given(seed=st.integers(0, 10**6), reduction=REDUCTIONS)
def test_ctc_as_in_pytorch(seed: int, reduction: str) -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(seed)
    x, labels = normal(rng, 6, 3, 4), rng.integers(1, 4, (3, 2))
    x -= np.log(np.exp(x).sum(-1, keepdims=True))
    lengths = np.array([6, 4, 5]), np.array([2, 1, 0])
    f = lambda x: nn.ctc_loss(x, labels, *lengths, reduction=reduction)  # noqa: E731
    theirs = torch.nn.functional.ctc_loss
    expected = theirs(*map(torch.tensor, (x, labels, *lengths)), reduction=reduction)
    np.testing.assert_allclose(f(x), expected.numpy(), rtol=1e-12)
    check_all(f, (x,), only=["transpose", "numerical", "jit"]).raise_if_failed()


def test_hinge_is_its_definition() -> None:
    x, y = np.array([0.5, 1.0, 2.0, -1.0]), np.array([1, 1, -1, -1])
    np.testing.assert_array_equal(nn.hinge_loss(x, y, reduction="none"), [0.5, 0, 3, 0])
    np.testing.assert_array_equal(
        funcgrad.grad(lambda x: nn.hinge_loss(x, y, reduction="sum"))(x), [-1, 0, 1, 0]
    )


# ---------------------------------------------------------------- running statistics, chance


@given(seed=st.integers(0, 10**6), momentum=st.sampled_from([0.1, 0.5, 1.0]))
def test_running_statistics_as_in_pytorch(seed: int, momentum: float) -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(seed)
    x, mean, var = normal(rng, 3, 2, 4), normal(rng, 2), unit(rng, 2)
    running = torch.tensor(mean), torch.tensor(var)
    torch.nn.functional.batch_norm(torch.tensor(x), *running, training=True, momentum=momentum)
    found = nn.batch_norm(x, mean, var, training=True, momentum=momentum)[1:]
    for a, b in zip(found, running, strict=True):
        np.testing.assert_allclose(a, b.numpy(), rtol=1e-12)
    of_batch = nn.batch_norm(x, training=True)[1:]
    np.testing.assert_allclose(of_batch[0], x.mean((0, 2)))
    np.testing.assert_allclose(of_batch[1], x.var((0, 2), ddof=1))
    unchanged = nn.batch_norm(x, mean, var)[1:]
    np.testing.assert_array_equal(unchanged, [mean, var])


@given(seed=st.integers(0, 10**6), rate=st.sampled_from([0.0, 0.3, 0.9, 1.0]))
def test_dropout(seed: int, rate: float) -> None:
    """What is dropped is 0, the rest keeps the mean; the same key drops the same."""
    key, x = random.PRNGKey(seed), np.full(4000, 2.0, np.float32)
    found = nn.dropout(key, x, rate)
    assert found.dtype == np.float32
    kept = found != 0
    assert abs(kept.mean() - (1 - rate)) < 5 * np.sqrt(rate * (1 - rate) / 4000) + 1e-9
    np.testing.assert_allclose(found[kept], 2 / max(1 - rate, 1e-9), rtol=1e-6)
    slopes = funcgrad.grad(lambda x: nn.dropout(key, x, rate).sum())(x)
    np.testing.assert_allclose(slopes, found / 2, rtol=1e-6)
    by_jit = funcgrad.jit(nn.dropout)(key, x, rate)
    np.testing.assert_allclose(by_jit, found, rtol=1e-6)


@given(n=st.integers(0, 2), axis=st.sampled_from([-1, 0, (0, 1)]))
def test_norms_of_nothing(n: int, axis: Any) -> None:
    x = np.zeros((n, 0 if n else 3))
    for f in (nn.layer_norm, nn.rms_norm, nn.standardize):
        assert f(x, axis=axis).shape == x.shape
    assert nn.softmax(x, axis).shape == x.shape


# ---------------------------------------------------------------- initializers

INITIALIZERS: dict[str, Callable[[Any], Any]] = {
    "normal": lambda i: i.normal(),
    "truncated": lambda i: i.truncated_normal(0.5, lower=-1.0, upper=0.5),
    "orthogonal": lambda i: i.orthogonal(2.0, column_axis=0),
    "spread": lambda i: i.variance_scaling(3.0, "fan_geo_avg", "normal", 0, (1,)),
    "batched": lambda i: i.variance_scaling(2.0, "fan_out", "uniform", 0, -1, 1),
    "he_normal": lambda i: i.he_normal(),
    "delta_orthogonal": lambda i: i.delta_orthogonal(2.0),
}


@pytest.mark.parametrize("name", ["orthogonal", "batched", "he_normal", "delta_orthogonal"])
def test_initializers_are_jaxs(name: str) -> None:
    jax = pytest.importorskip("jax")
    made = INITIALIZERS[name](jax.nn.initializers)
    with jax.enable_x64(True), jax.threefry_partitionable(True):
        expected = np.asarray(made(jax.random.PRNGKey(5), (2, 3, 4), np.float64))
    init = INITIALIZERS[name](nn.initializers)
    found = init(random.PRNGKey(5), (2, 3, 4))
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)
    assert init(random.PRNGKey(5), (2, 3, 4), np.float32).dtype == np.float32


@pytest.mark.parametrize("name", INITIALIZERS)
def test_initializers_under_transforms(name: str) -> None:
    init = INITIALIZERS[name](nn.initializers)
    keys = random.split(random.PRNGKey(1), 3)
    shape = (2, 3, 4) if name == "delta_orthogonal" else (3, 4)
    each = np.stack([init(k, shape) for k in keys])
    assert each.dtype == np.float64
    many = funcgrad.vmap(lambda k: init(k, shape) + 0.0 * k[0])(keys)
    np.testing.assert_allclose(many, each, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(funcgrad.jit(lambda k: init(k, shape))(keys[0]), each[0], rtol=1e-12)


@pytest.mark.parametrize("shape", [(3, 2, 2), (4, 1, 2, 3), (2, 3, 1, 1, 4), (5, 2, 5)])
def test_kernels_that_keep_lengths(shape: tuple[int, ...]) -> None:
    w = nn.initializers.delta_orthogonal(1.5, dtype=np.float32)(random.PRNGKey(3), shape)
    assert w.shape == shape
    assert w.dtype == np.float32
    middle = w[tuple((n - 1) // 2 for n in shape[:-2])]
    np.testing.assert_allclose(middle @ middle.T, 2.25 * np.eye(shape[-2]), atol=1e-5)
    assert np.count_nonzero(w) == middle.size
    for wrong in ((2, 2), (3, 3, 2), (1, 1, 1, 1, 1, 1), (0, 2, 2)):
        with pytest.raises(ShapeError, match="channels in than out"):
            nn.initializers.delta_orthogonal()(random.PRNGKey(3), wrong)


def test_simple_initializers() -> None:
    init, key = nn.initializers, random.PRNGKey(4)
    for f, value in ((init.zeros, 0), (init.ones, 1), (init.constant(3.0), 3)):
        np.testing.assert_array_equal(
            f(key, [2, 3], np.float32), np.full((2, 3), value, np.float32)
        )
        assert f(key, (2,)).dtype == np.float64
    np.testing.assert_array_equal(init.uniform(0.5)(key, (4,)), random.uniform(key, (4,)) / 2)


def variances(name: str, *args: Any) -> float:
    w = getattr(nn.initializers, name)(*args)(random.PRNGKey(2), (5, 20, 50))
    return float(w.var())


@pytest.mark.parametrize("distribution", ["truncated_normal", "normal", "uniform"])
def test_variances(distribution: str) -> None:
    sizes = {"fan_in": 100, "fan_out": 250, "fan_avg": 175, "fan_geo_avg": np.sqrt(100 * 250)}
    for mode, size in sizes.items():
        found = variances("variance_scaling", 2.0, mode, distribution)
        np.testing.assert_allclose(found * size, 2.0, rtol=0.06)


def test_variances_by_name() -> None:
    expected = {"glorot": 2 / 350, "lecun": 1 / 100, "he": 2 / 100}
    expected |= {"xavier": expected["glorot"], "kaiming": expected["he"]}
    for name, variance in expected.items():
        for kind in ("normal", "uniform"):
            np.testing.assert_allclose(variances(f"{name}_{kind}"), variance, rtol=0.06)


def test_scales_are_differentiated() -> None:
    key = random.PRNGKey(3)
    f = lambda s: nn.initializers.normal(s)(key, (3,), np.float32)  # noqa: E731
    np.testing.assert_allclose(funcgrad.jacfwd(f)(2.0), f(1.0), rtol=1e-6)
    assert f(np.array(2.0)).dtype == np.float32


# ---------------------------------------------------------------- arguments

X, Y = np.ones((2, 3)), np.array([0, 2])
KEY = random.PRNGKey(0)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: nn.mean_squared_error(X, 1j), ArgumentError, "needs real numbers"),
        (lambda: nn.mean_squared_error(X, X, reduction="all"), ArgumentError, "reduction='all'"),
        (lambda: nn.mean_squared_error(X, np.ones(2)), ShapeError, "broadcast"),
        (lambda: nn.huber_loss(X, X, -1.0), ArgumentError, "delta=-1.0; need a positive"),
        (lambda: nn.smooth_l1_loss(X, X, 0.0), ArgumentError, "beta=0.0; need a positive"),
        (lambda: nn.cross_entropy(X, np.array([0, 3])), IndexError, "a label is 3; need one of 3"),
        (lambda: nn.cross_entropy(X, np.array([0, -1])), IndexError, "a label is -1"),
        (lambda: nn.cross_entropy(X, np.array([0, 1, 2])), ShapeError, r"need shape \[2\]"),
        (lambda: nn.cross_entropy(X, X[0]), ShapeError, r"need shape \[2, 3\]"),
        (lambda: nn.cross_entropy(X, Y, weight=np.ones(2)), ShapeError, r"need shape \[3\]"),
        (lambda: nn.cross_entropy(X, X, ignore_index=1), ArgumentError, "ignore_index=1"),
        (lambda: nn.cross_entropy(X, Y, label_smoothing=2), ArgumentError, "label_smoothing=2"),
        (lambda: nn.cross_entropy(X, Y, axis=2), ShapeError, "axis 2"),
        (lambda: nn.nll_loss(X, X), ArgumentError, "labels has to be integers"),
        (lambda: nn.binary_cross_entropy(X + 1, X), ArgumentError, "numbers from 0 to 1"),
        (lambda: nn.gaussian_nll_loss(X, X, -X), ArgumentError, "no negative numbers"),
        (lambda: nn.multi_margin_loss(X, Y, p=3), ArgumentError, "p=3; need 1 or 2"),
        (lambda: nn.multi_margin_loss(X, Y + 1), IndexError, "a label is 3"),
        (lambda: nn.multi_margin_loss(X, Y[:1]), ShapeError, r"need \(n, c\), \(n,\)"),
        (lambda: nn.multilabel_margin_loss(X, Y), ShapeError, "twice"),
        (lambda: nn.triplet_margin_loss(1.0, X, X), ShapeError, "1 or more axes"),
        (lambda: nn.ctc_loss(X, Y, Y, Y), ShapeError, r"need \(t, n, c\)"),
        (
            lambda: nn.ctc_loss(X[None], [[1], [3]], [1, 1], [1, 1]),
            ArgumentError,
            "labels=.*less than 3",
        ),
        (
            lambda: nn.ctc_loss(X[None], [[1], [1]], [2, 1], [1, 1]),
            ArgumentError,
            "input_lengths=.*less than 2",
        ),
        (
            lambda: funcgrad.jit(lambda n: nn.ctc_loss(X[None], [[1], [1]], n, Y))(Y),
            ConcretizationError,
            "input_lengths must be known",
        ),
        (lambda: nn.layer_norm(X, np.ones(2)), ShapeError, r"weight is f64\[2\]; need shape \[3\]"),
        (lambda: nn.layer_norm(X, axis=2), ShapeError, "axis 2 does not exist"),
        (lambda: nn.group_norm(X, 2), ShapeError, "3 channels in groups=2"),
        (lambda: nn.instance_norm(X), ShapeError, "need at least 3 axes"),
        (lambda: nn.batch_norm(X), ArgumentError, "need running_mean and running_var"),
        (lambda: nn.batch_norm(X, Y, training=True), ArgumentError, "need running_mean and"),
        (lambda: nn.batch_norm(X[:1], training=True), ShapeError, "training with 1 values"),
        (lambda: nn.local_response_norm(X, 0), ArgumentError, "size=0; need 1 or more"),
        (lambda: nn.dropout(KEY, X, 1.5), ArgumentError, "rate=1.5; need a number from 0 to 1"),
        (lambda: nn.dropout(3, X, 0.5), ArgumentError, "key"),
        (lambda: nn.embedding(Y, 1.0), ShapeError, "has no rows"),
        (lambda: nn.embedding(X, X), ArgumentError, "indices has to be integers"),
        (
            lambda: nn.initializers.variance_scaling(1.0, "fan", "normal"),
            ArgumentError,
            "mode='fan'",
        ),
        (
            lambda: nn.initializers.variance_scaling(1.0, "fan_in", "even"),
            ArgumentError,
            "distribution='even'",
        ),
        (lambda: nn.initializers.he_normal()(KEY, (3,)), ShapeError, "need two axes"),
        (lambda: nn.initializers.orthogonal()(KEY, (3,)), ShapeError, "no matrix"),
        (lambda: nn.initializers.normal()(KEY, (3,), int), ArgumentError, "not floating"),
    ],
)
def test_errors(call: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        call()
    assert "test_nn_losses.py" in str(caught.value)


@pytest.mark.parametrize("label", [-1, 3])
def test_labels_that_are_no_class_raise_when_compiled(label: int) -> None:
    compiled = funcgrad.jit(nn.cross_entropy)
    np.testing.assert_allclose(compiled(X, Y), np.log(3))
    with pytest.raises(IndexError):
        compiled(X, np.array([0, label]))


def test_rows_that_are_not_there_raise() -> None:
    with pytest.raises(IndexError, match="2"):
        nn.embedding(Y, X)


# ---------------------------------------------------------------- on a device

ON_DEVICE: dict[str, Callable[..., Any]] = {
    "one_hot": lambda x, labels: nn.one_hot(labels, 4),
    "embedding": lambda x, labels: nn.embedding(labels, x),
    "cross_entropy": lambda x, labels: funcgrad.grad(nn.cross_entropy)(x, labels),
    "ignored": lambda x, labels: nn.cross_entropy(
        x, labels, ignore_index=1, label_smoothing=0.1, weight=x[0]
    ),
    "batch_norm": lambda x, labels: nn.batch_norm(x, training=True)[0],
    "layer_norm": lambda x, labels: nn.layer_norm(x, x[0], x[1]),
    "dropout": lambda x, labels: nn.dropout(x[0, :2].astype(np.uint32), x, 0.5),
    "huber": lambda x, labels: nn.huber_loss(x, 0.0),
    "softmax": lambda x, labels: nn.softmax(x, where=x > 0.5),
    "gaussian": lambda x, labels: nn.gaussian_nll_loss(x, 1.0, 2.0),
    "multi margin": lambda x, labels: nn.multi_margin_loss(x, labels),
    "attention": lambda x, labels: nn.dot_product_attention(
        *[x[:, None]] * 3, is_causal=True, local_window_size=1
    ),
    "initializer": lambda x, labels: nn.initializers.he_uniform()(
        x[0, :2].astype(np.uint32), (2, 3)
    ),
}


@pytest.mark.parametrize("name", ON_DEVICE)
def test_on_a_device(name: str, cupy: Any) -> None:
    x, labels = np.arange(12.0).reshape(3, 4) % 5, np.array([0, 2, 1])
    found = ON_DEVICE[name](cupy.asarray(x), cupy.asarray(labels))
    assert isinstance(found, cupy.ndarray)
    np.testing.assert_allclose(found.get(), ON_DEVICE[name](x, labels), rtol=1e-12)


@pytest.mark.parametrize("transform", [lambda f: f, funcgrad.jit])
def test_binary_cross_entropy_at_the_ends(transform: Any) -> None:
    slope = transform(funcgrad.vmap(funcgrad.grad(nn.binary_cross_entropy), in_axes=(0, None)))
    bend = transform(
        funcgrad.vmap(funcgrad.grad(funcgrad.grad(nn.binary_cross_entropy)), in_axes=(0, None))
    )
    x = np.array([0.0, 1e-13, 0.25, 1.0])
    for y in (0.0, 0.5, 1.0):
        m = np.maximum(x * (1 - x), 1e-12)
        assert np.allclose(slope(x, y), (x - y) / m)
        inside = 1 / m + (y - x) * (1 - 2 * x) / m**2
        assert np.allclose(bend(x, y), np.where(m > 1e-12, inside, 1e12))
    half = np.array([0.0, 1.0, 0.5], np.float16)
    assert slope(half, 1.0).tolist() == [-(2.0**14), 0, -2]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_logits_far_out_keep_their_digits(dtype: Any) -> None:
    """The loss of the target 0 is `softplus`, with its slope and curvature; of 1 mirrored, weighted."""
    sizes = np.array([0, 1e-30, 1e-3, 1, 9, 17, 40, 80, 1e3, 1e30], dtype)
    x = np.concatenate([sizes, -sizes])

    def derivatives(f: Any) -> list[Any]:
        slope = funcgrad.grad(lambda x: f(x).sum())
        return [f(x), slope(x), funcgrad.grad(lambda x: slope(x).sum())(x)]

    def loss(y: float, **options: Any) -> Any:
        target = np.full_like(x, y)
        options["reduction"] = "none"
        return lambda x: nn.binary_cross_entropy_with_logits(x, target, **options)

    rtol = 8 * float(np.finfo(dtype).eps)
    for y, weight in ((0.0, None), (1.0, None), (1.0, dtype(3.0)), (0.25, dtype(2.0))):
        of_one = 1.0 if weight is None else weight
        found = derivatives(loss(y) if weight is None else loss(y, pos_weight=weight))
        expected = derivatives(
            lambda x, y=y, w=of_one: (1 - y) * nn.softplus(x) + w * y * nn.softplus(-x)
        )
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol * (0 < y < 1))
