"""Transforms, constraints and utilities of `compat.distributions` against PyTorch's."""

from __future__ import annotations

import copy
import importlib
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import compat
from compat import distributions as ours

torch: Any = pytest.importorskip("torch")
theirs: Any = importlib.import_module("torch.distributions")
importlib.import_module("torch.distributions.utils")

BOTH = ((compat, ours), (torch, theirs))
X = [[0.3, -1.2, 0.8], [2.0, 0.1, -0.4]]
POSITIVE = [[0.3, 1.2, 0.8], [2.0, 0.1, 0.4]]
MATRIX = [[0.3, -1.2], [0.8, 0.4]]

Make = Callable[[Any, Any], Any]


def _f64(module: Any, x: Any) -> Any:
    return module.tensor(x, dtype=module.float64)


TRANSFORMS: dict[str, tuple[Make, Any]] = {
    "exp": (lambda m, d: d.ExpTransform(), X),
    "power": (lambda m, d: d.PowerTransform(_f64(m, [2.0, 0.5, -1.0])), POSITIVE),
    "sigmoid": (lambda m, d: d.SigmoidTransform(), X),
    "tanh": (lambda m, d: d.TanhTransform(), X),
    "softplus": (lambda m, d: d.SoftplusTransform(), X),
    "abs": (lambda m, d: d.AbsTransform(), POSITIVE),
    "affine": (lambda m, d: d.AffineTransform(1.0, -2.0), X),
    "affine of tensors": (lambda m, d: d.AffineTransform(0, _f64(m, [2.0, -1.0, 3.0])), X),
    "affine of vectors": (lambda m, d: d.AffineTransform(0.5, _f64(m, [2.0, 1, 3]), 1), X),
    "softmax": (lambda m, d: d.SoftmaxTransform(), X),
    "sticks": (lambda m, d: d.StickBreakingTransform(), X),
    "cholesky": (lambda m, d: d.LowerCholeskyTransform(), MATRIX),
    "definite": (lambda m, d: d.PositiveDefiniteTransform(), MATRIX),
    "correlation": (lambda m, d: d.CorrCholeskyTransform(), X),
    "composed": (
        lambda m, d: d.ComposeTransform([d.AffineTransform(1.0, 2.0), d.ExpTransform()]),
        X,
    ),
    "sticks of exp": (
        lambda m, d: d.ComposeTransform([d.TanhTransform(), d.StickBreakingTransform()]),
        X,
    ),
    "inverse": (lambda m, d: d.ExpTransform().inv, POSITIVE),
    "identity": (lambda m, d: d.identity_transform, X),
    "independent": (lambda m, d: d.IndependentTransform(d.ExpTransform(), 1), X),
    "reshape": (lambda m, d: d.ReshapeTransform((3,), (3, 1)), X),
    "cat": (lambda m, d: d.CatTransform([d.ExpTransform(), d.TanhTransform()], -1, [1, 2]), X),
    "stack": (lambda m, d: d.StackTransform([d.ExpTransform(), d.SigmoidTransform()], 0), X),
    "distribution": (
        lambda m, d: d.CumulativeDistributionTransform(d.Normal(_f64(m, 0.5), _f64(m, 2.0))),
        X,
    ),
}
ONE_WAY = {"softmax", "definite", "cholesky"}  # they forget a part of what they get


def _told(f: Callable[[], Any]) -> Any:
    try:
        return f()
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transform(name: str) -> None:
    make, value = TRANSFORMS[name]
    found = []
    for module, d in BOTH:
        t, x = make(module, d), _f64(module, value).requires_grad_()
        y = t(x)
        (slope,) = module.autograd.grad((y * y.detach().cos()).sum(), x)
        jacobian = _told(lambda t=t, x=x, y=y: t.log_abs_det_jacobian(x, y).detach().numpy())
        back = _told(lambda t=t, x=x, y=y: t.inv.log_abs_det_jacobian(y, x).detach().numpy())
        arrays = [y.detach().numpy(), t.inv(y).detach().numpy(), slope.numpy(), jacobian, back]
        facts = [
            bool(t.bijective),
            _told(lambda t=t: t.event_dim),
            _told(lambda t=t: np.asarray(t.sign).tolist()),
            _told(lambda t=t: (t.domain.event_dim, t.codomain.event_dim)),
            _told(lambda t=t, x=x: tuple(t.forward_shape(x.shape))),
            _told(lambda t=t, y=y: tuple(t.inverse_shape(y.shape))),
            bool(t.codomain.check(y).all()),
            t.inv.inv == t,
            t == make(module, d),
        ]
        found.append((arrays, facts))
    for mine, wanted in zip(found[0][0], found[1][0], strict=True):
        if isinstance(wanted, type):
            assert mine is wanted
        else:
            np.testing.assert_allclose(mine, wanted, rtol=1e-10, atol=1e-10)
    assert found[0][1] == found[1][1]
    if name not in ONE_WAY:
        np.testing.assert_allclose(found[0][0][1], value, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", [n for n in TRANSFORMS if n not in ("identity", "inverse")])
def test_cache_and_copies(name: str) -> None:
    make, value = TRANSFORMS[name]
    t, x = make(compat, ours), _f64(compat, value)
    kept = t.with_cache(1)
    assert kept.with_cache(1) is kept
    y = kept(x)
    assert kept.inv(y) is x
    assert t.inv(t(x)) is not x or name == "abs"
    for twin in (copy.copy(t), pickle.loads(pickle.dumps(t))):
        np.testing.assert_array_equal(twin(x).numpy(), t(x).numpy())
    with pytest.raises(ValueError):
        type(t).__mro__[-2](cache_size=2)


SETS: dict[str, Make] = {
    "real": lambda m, d: d.constraints.real,
    "positive": lambda m, d: d.constraints.positive,
    "nonnegative": lambda m, d: d.constraints.nonnegative,
    "greater_than": lambda m, d: d.constraints.greater_than(0.2),
    "greater_than_eq": lambda m, d: d.constraints.greater_than_eq(0.3),
    "less_than": lambda m, d: d.constraints.less_than(0.5),
    "interval": lambda m, d: d.constraints.interval(-1.0, 1.0),
    "half_open_interval": lambda m, d: d.constraints.half_open_interval(-1.2, 2.0),
    "unit_interval": lambda m, d: d.constraints.unit_interval,
    "boolean": lambda m, d: d.constraints.boolean,
    "integers": lambda m, d: d.constraints.integer_interval(0, 2),
    "nonnegative_integer": lambda m, d: d.constraints.nonnegative_integer,
    "positive_integer": lambda m, d: d.constraints.positive_integer,
    "one_hot": lambda m, d: d.constraints.one_hot,
    "real_vector": lambda m, d: d.constraints.real_vector,
    "simplex": lambda m, d: d.constraints.simplex,
    "multinomial": lambda m, d: d.constraints.multinomial(3),
    "lower_triangular": lambda m, d: d.constraints.lower_triangular,
    "lower_cholesky": lambda m, d: d.constraints.lower_cholesky,
    "corr_cholesky": lambda m, d: d.constraints.corr_cholesky,
    "square": lambda m, d: d.constraints.square,
    "symmetric": lambda m, d: d.constraints.symmetric,
    "positive_semidefinite": lambda m, d: d.constraints.positive_semidefinite,
    "positive_definite": lambda m, d: d.constraints.positive_definite,
    "independent": lambda m, d: d.constraints.independent(d.constraints.positive, 1),
    "cat": lambda m, d: d.constraints.cat([d.constraints.positive, d.constraints.real], -1, [1, 1]),
    "stack": lambda m, d: d.constraints.stack([d.constraints.positive, d.constraints.real], -1),
    "mixture": lambda m, d: d.constraints.MixtureSameFamilyConstraint(d.constraints.positive),
    "dependent": lambda m, d: d.constraints.dependent,
    "tuned": lambda m, d: d.constraints.dependent(is_discrete=True, event_dim=1),
}
VALUES = [
    [[1.0, 0.0], [0.0, 1.0]],
    [[1.0, 0.0], [0.6, 0.8]],
    [[2.0, 1.0], [1.0, 1.0]],
    [[2.0, 2.0], [2.0, 2.0]],
    [[0.3, 0.7], [-1.2, 2.0]],
    [[1.0, np.nan], [0.5, 3.0]],
]


@pytest.mark.parametrize("value", VALUES, ids=str)
@pytest.mark.parametrize("name", SETS)
def test_constraint(name: str, value: Any) -> None:
    found = []
    for module, d in BOTH:
        c = SETS[name](module, d)
        found.append(
            [
                _told(lambda c=c, m=module: c.check(_f64(m, value)).tolist()),
                repr(c) if name not in ("cat", "stack") else "",
                _told(lambda c=c: c.is_discrete),
                _told(lambda c=c: c.event_dim),
                d.constraints.is_dependent(c),
            ]
        )
    assert found[0] == found[1]


@pytest.mark.parametrize("registry", ["biject_to", "transform_to"])
@pytest.mark.parametrize("name", SETS)
def test_registries(name: str, registry: str) -> None:
    found = []
    for module, d in BOTH:

        def run(module: Any = module, d: Any = d) -> Any:
            t = getattr(d, registry)(SETS[name](module, d))
            x = _f64(module, [X[0], X[1], X[0]])
            x = x[:, :2] if name in ("cat", "stack") else x
            return type(t).__name__, t(x).tolist()

        found.append(_told(run))
    if isinstance(found[1], tuple):
        assert found[0][0] == found[1][0]
        np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-10, atol=1e-12)
    else:
        assert found[0] == found[1]


UTILS: dict[str, Callable[[Any, Any], Any]] = {
    "broadcast_all": lambda m, u: u.broadcast_all(1, m.ones(2, dtype=m.float64))[0],
    "broadcast numbers": lambda m, u: u.broadcast_all(1, 2)[0],
    "broadcast text": lambda m, u: u.broadcast_all("a", 2)[0],
    "clamp_probs": lambda m, u: u.clamp_probs(m.tensor([0.0, 0.5, 1.0])),
    "logits_to_probs": lambda m, u: u.logits_to_probs(_f64(m, X)),
    "binary probs": lambda m, u: u.logits_to_probs(_f64(m, X), is_binary=True),
    "probs_to_logits": lambda m, u: u.probs_to_logits(_f64(m, [0.0, 0.4, 1.0])),
    "binary logits": lambda m, u: u.probs_to_logits(_f64(m, [0.0, 0.4, 1.0]), is_binary=True),
    "tril_matrix_to_vec": lambda m, u: u.tril_matrix_to_vec(_f64(m, X + X[:1])),
    "above": lambda m, u: u.tril_matrix_to_vec(_f64(m, X + X[:1]), 1),
    "no diagonal": lambda m, u: u.tril_matrix_to_vec(_f64(m, X + X[:1]), 3),
    "vec_to_tril_matrix": lambda m, u: u.vec_to_tril_matrix(_f64(m, X)),
    "below": lambda m, u: u.vec_to_tril_matrix(_f64(m, X), -1),
    "all above": lambda m, u: u.vec_to_tril_matrix(_f64(m, []), -3),
    "all above, batched": lambda m, u: u.vec_to_tril_matrix(m.zeros(2, 0), -1),
    "no matrix": lambda m, u: u.vec_to_tril_matrix(_f64(m, [1.0, 2.0])),
    "euler": lambda m, u: u.euler_constant,
}


@pytest.mark.parametrize("name", UTILS)
def test_utils(name: str) -> None:
    found = [_told(lambda m=m, d=d: UTILS[name](m, d.utils)) for m, d in BOTH]
    if isinstance(found[1], type | float):
        assert found[0] == found[1]
    else:
        assert found[0].shape == found[1].shape
        np.testing.assert_allclose(found[0].numpy(), found[1].numpy(), rtol=1e-7)


@pytest.mark.parametrize("events", [0, 1, 2])
def test_a_transform_takes_axes_of_the_batch_as_its_event(events: int) -> None:
    """Also where it leaves fewer than it takes, of a distribution of numbers too."""
    d = compat.distributions
    base = d.Independent(d.Normal(compat.zeros(4, 5), 1.0), events)
    flat = d.TransformedDistribution(base, [d.ReshapeTransform((4, 5), (20,))])
    assert (flat.batch_shape, flat.event_shape) == ((), (20,))
    x = compat.linspace(-1, 1, 20)
    expected = d.Normal(0.0, 1.0).log_prob(x).sum()
    compat.testing.assert_close(flat.log_prob(x), expected)
