"""Exponentials, logarithms, trigonometric and special functions, element by element."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from elementwise import agree, needs_torch
from harness import C, Call, F, call, check, torch

import compat

pytest.importorskip("scipy")

# name, where it is defined
UNARY: dict[str, tuple[float, float]] = {
    "exp": (-2, 2),
    "exp2": (-2, 2),
    "expm1": (-2, 2),
    "log": (0.2, 2),
    "log2": (0.2, 2),
    "log10": (0.2, 2),
    "log1p": (-0.7, 2),
    "sigmoid": (-5, 5),
    "logit": (0.1, 0.9),
    "relu": (-2, 2),
    "sin": (-5, 5),
    "cos": (-5, 5),
    "tan": (-1.2, 1.2),
    "asin": (-0.9, 0.9),
    "acos": (-0.9, 0.9),
    "atan": (-5, 5),
    "sinh": (-2, 2),
    "cosh": (-2, 2),
    "tanh": (-2, 2),
    "asinh": (-3, 3),
    "acosh": (1.2, 3),
    "atanh": (-0.9, 0.9),
    "sinc": (-3, 3),
    "deg2rad": (-90, 90),
    "rad2deg": (-2, 2),
    "erf": (-2, 2),
    "erfc": (-2, 2),
    "erfinv": (-0.9, 0.9),
    "lgamma": (0.3, 5),
    "digamma": (0.3, 5),
    "i0": (-3, 3),
    "special.i0e": (-3, 3),
    "special.i1": (-3, 3),
    "special.i1e": (-3, 3),
    "special.erfcx": (-1, 5),
    "special.ndtr": (-3, 3),
    "special.log_ndtr": (-5, 5),
    "special.ndtri": (0.1, 0.9),
    "special.entr": (0.1, 3),
    "special.expit": (-3, 3),
    "special.gammaln": (0.3, 5),
    "special.psi": (0.3, 5),
    "special.sinc": (-3, 3),
    "special.exp2": (-2, 2),
    "special.expm1": (-2, 2),
    "special.log1p": (-0.7, 2),
    "special.logit": (0.1, 0.9),
    "special.erf": (-2, 2),
    "special.erfc": (-2, 2),
    "special.erfinv": (-0.9, 0.9),
    "special.digamma": (0.3, 5),
    "special.i0": (-3, 3),
}
COMPLEX = (
    "exp exp2 expm1 log log2 log10 log1p sigmoid sin cos tan asin acos atan sinh cosh tanh "
    "asinh acosh atanh"
)
STEPS = "floor ceil round trunc sign sgn frac angle abs square rsqrt reciprocal isnan logical_not"
AREA = ("acosh", "asinh", "atanh")  # PyTorch has no derivative of their in-place forms
IN_PLACE = [name for name in UNARY if not name.startswith("special") and name not in AREA]
ALIASES = ("acos", "acosh", "asin", "asinh", "atan", "atanh")

CALLS = [
    *(call(name, F(2, 3, low=low, high=high)) for name, (low, high) in UNARY.items()),
    *(call(name, F(low=low, high=high)) for name, (low, high) in UNARY.items()),
    *(call(name, F(0, 2)) for name in UNARY),
    *(call(name, C(3)) for name in COMPLEX.split()),
    *(call(f".{name}_", F(2, low=UNARY[name][0], high=UNARY[name][1])) for name in IN_PLACE),
    call("atan2", F(2, 3), F(3)),
    call("arctan2", F(2, 1), F(3)),
    call(".atan2_", F(2, 3), F(3)),
    call(".arctan2_", F(2, 3), F(3)),
    call("hypot", F(2, 1), F(3)),
    call(".hypot_", F(2, 3), F(3)),
    call("logaddexp", F(2, 1), F(3)),
    call("logaddexp", C(3), C(3)),
    call("logaddexp2", F(2, 1), F(3)),
    call("xlogy", F(2, 3), F(3, low=0.3)),
    call("xlogy", F(2, 3), 2.5),
    call("xlogy", 2.5, F(3, low=0.3)),
    call(".xlogy_", F(2, 3), F(3, low=0.3)),
    call("special.xlogy", F(2, 3), F(3, low=0.3)),
    call("special.xlog1py", F(2, 3), F(3, low=-0.5)),
    call("special.xlog1py", F(2, 3), 0.5),
    call("logit", F(2, 3, low=0, high=1), 0.3),
    call("logit", F(2, 3, low=0, high=1), eps=1e-6),
    *(call("polygamma", n, F(2, 3, low=0.5)) for n in range(4)),
    call("special.polygamma", 2, F(2, low=0.5)),
    call(".polygamma", F(3, low=0.5), 1),
    call(".polygamma_", F(3, low=0.5), 2),
    call("mvlgamma", F(2, 3, low=2, high=4), 3),
    call("mvlgamma", F(2, low=2, high=4), p=1),
    call(".mvlgamma_", F(2, low=2, high=4), 2),
    call("special.multigammaln", F(2, low=2, high=4), 2),
    call("special.zeta", F(3, low=2, high=5, grad=False), F(2, 1, low=0.5, grad=False)),
    *(
        call(f"special.{name}", F(2, 3, low=0.3, high=4, grad=False))
        for name in (
            "bessel_j0",
            "bessel_j1",
            "bessel_y0",
            "bessel_y1",
            "modified_bessel_i0",
            "modified_bessel_i1",
            "modified_bessel_k0",
            "modified_bessel_k1",
            "airy_ai",
            "scaled_modified_bessel_k0",
            "scaled_modified_bessel_k1",
            "spherical_bessel_j0",
        )
    ),
    *(
        call(f"special.{name}", F(2, 3, low=-2, high=2, grad=False), n)
        for n in (-1, 0, 1, 4)
        for name in (
            "chebyshev_polynomial_t",
            "chebyshev_polynomial_u",
            "chebyshev_polynomial_v",
            "chebyshev_polynomial_w",
            "hermite_polynomial_h",
            "hermite_polynomial_he",
            "laguerre_polynomial_l",
            "legendre_polynomial_p",
            "shifted_chebyshev_polynomial_t",
            "shifted_chebyshev_polynomial_u",
            "shifted_chebyshev_polynomial_v",
            "shifted_chebyshev_polynomial_w",
        )
    ),
    call("special.zeta", 2.5, F(2, low=0.5)),
    call("igamma", F(2, 3, low=0.5, grad=False), F(3, low=0.1)),
    call("igammac", F(3, low=0.5, grad=False), F(2, 1, low=0.1)),
    call("special.gammainc", F(3, low=0.5, grad=False), F(3, low=0.1)),
    call("special.gammaincc", F(3, low=0.5, grad=False), F(3, low=0.1)),
    call(".igamma", F(3, low=0.5, grad=False), F(3, low=0.1)),
    call(".igamma_", F(3, low=0.5, grad=False), F(3, low=0.1, grad=False)),
    call(".igammac_", F(3, low=0.5, grad=False), F(3, low=0.1, grad=False)),
    call("special.zeta", F(2, low=2, high=5, grad=False), 1),
    call("special.round", F(2, 3), decimals=1),
    call("special.softmax", F(2, 3), 1),
    call("special.log_softmax", F(2, 3), dim=0),
    call("special.logsumexp", F(2, 3), 1),
]


@pytest.mark.parametrize("c", CALLS, ids=repr)
def test_call(c: Call) -> None:
    check(c)


def test_polynomials_are_of_the_dtype_of_both_operands() -> None:
    """They were of that of the first one alone, with its precision."""
    f = compat.special.chebyshev_polynomial_t
    degrees = compat.tensor([2.0, 3.0], dtype=compat.float64)
    y = f(compat.tensor([0.1, 0.1]), degrees)
    assert y.dtype is compat.float64 is f(compat.tensor([1, 2]), degrees).dtype
    np.testing.assert_allclose(y.numpy(), [-0.98, -0.296], rtol=1e-6)
    assert f(compat.tensor([0.5]), compat.tensor(2.0, dtype=compat.float64)).dtype is compat.float32
    assert f(compat.tensor([0.5], dtype=compat.float64), compat.tensor([2])).item() == -0.5
    assert f(-1, compat.tensor([2, 3], dtype=compat.uint8)).tolist() == [1.0, -1.0]


@pytest.mark.parametrize("name", list(UNARY))
def test_float32(name: str) -> None:
    """float32 in, float32 out, and the gradient too, to float32's precision."""
    low, high = UNARY[name]
    values = np.linspace(low, high, 7)
    f: Any = compat
    for part in name.split("."):
        f = getattr(f, part)
    found = []
    for dtype in ("float32", "float64"):
        x = compat.from_numpy(values.astype(dtype)).requires_grad_()
        y = f(x)
        y.sum().backward()
        assert y.dtype is x.dtype and x.grad.dtype is x.dtype
        found.append((y.detach().numpy(), x.grad.numpy()))
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-5)


@pytest.mark.parametrize("name", [*UNARY, *STEPS.split()])
def test_transforms(name: str) -> None:
    """Under `vmap` and `func.grad` a function is what it is outside, and its derivative too."""
    low, high = UNARY.get(name, (0.3, 2.7))
    f: Any = compat
    for part in name.split("."):
        f = getattr(f, part)
    x = compat.from_numpy(np.linspace(low, high, 6).reshape(2, 3))
    np.testing.assert_allclose(compat.vmap(f)(x).numpy(), f(x).numpy(), rtol=1e-14)
    leaf = x.clone().requires_grad_()
    y = f(leaf)
    expected = np.zeros((2, 3))
    if y.requires_grad:
        y.sum().backward()
        expected = leaf.grad.numpy()
    if y.dtype.is_floating_point:
        found = compat.func.grad(lambda v: f(v).sum())(x)
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-13)


@pytest.mark.parametrize("name", ["exp", "log", "sin", "tanh", "sigmoid", "erf", "lgamma", "i0"])
def test_second_derivative(name: str) -> None:
    low, high = UNARY[name]
    x = compat.from_numpy(np.linspace(low, high, 5)).requires_grad_()
    f = getattr(compat, name)
    (g,) = compat.autograd.grad(f(x).sum(), x, create_graph=True)
    (h,) = compat.autograd.grad(g.sum(), x)
    step = 1e-6
    slopes = []
    for sign in (1, -1):
        z = (x.detach() + sign * step).requires_grad_()
        slopes.append(compat.autograd.grad(f(z).sum(), z)[0].numpy())
    expected = (slopes[0] - slopes[1]) / (2 * step)
    np.testing.assert_allclose(h.numpy(), expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", AREA)
def test_in_place(name: str) -> None:
    low, high = UNARY[name]
    found = []
    for suffix in ("", "_"):
        x = compat.from_numpy(np.linspace(low, high, 5)).requires_grad_()
        y = getattr(x * 1, name + suffix)()
        y.sum().backward()
        found.append((y.tolist(), x.grad.tolist()))
    assert found[0] == found[1]


@pytest.mark.parametrize("name", ALIASES)
def test_alias(name: str) -> None:
    for suffix in ("", "_"):
        assert getattr(compat, f"arc{name[1:]}{suffix}") is getattr(compat, name + suffix)
        assert getattr(compat.Tensor, f"arc{name[1:]}{suffix}") is getattr(compat, name + suffix)


NODES = {
    "exp": "ExpBackward0",
    "log1p": "Log1PBackward0",
    "exp2": "Exp2Backward0",
    "expm1": "Expm1Backward0",
    "log10": "Log10Backward0",
    "sigmoid": "SigmoidBackward0",
    "logit": "LogitBackward0",
    "relu": "ReluBackward0",
    "asin": "AsinBackward0",
    "deg2rad": "Deg2RadBackward0",
    "sinc": "SincBackward0",
    "erfinv": "ErfinvBackward0",
    "lgamma": "LgammaBackward0",
    "special.i0e": "SpecialI0EBackward0",
    "special.entr": "SpecialEntrBackward0",
    "special.ndtri": "SpecialNdtriBackward0",
    "special.log_ndtr": "SpecialLogNdtrBackward0",
}


@pytest.mark.parametrize("name", NODES)
def test_node(name: str) -> None:
    x = compat.tensor([0.5], requires_grad=True)
    f: Any = compat
    for part in name.split("."):
        f = getattr(f, part)
    assert f(x).grad_fn.name() == NODES[name]
    if torch is not None:
        g: Any = torch
        for part in name.split("."):
            g = getattr(g, part)
        assert g(torch.tensor([0.5], requires_grad=True)).grad_fn.name() == NODES[name]


def test_names_of_other_nodes() -> None:
    x = compat.tensor([0.5, 1.5], requires_grad=True)
    assert compat.atan2(x, x).grad_fn.name() == "Atan2Backward0"
    assert compat.xlogy(x, x).grad_fn.name() == "XlogyBackward0"
    assert compat.xlogy(2, x).grad_fn.name() == "XlogyBackward1"
    assert compat.xlogy(x, 2).grad_fn.name() == "XlogyBackward2"
    assert compat.polygamma(2, x).grad_fn.name() == "PolygammaBackward0"
    assert compat.mvlgamma(x + 3, 2).grad_fn.name() == "MvlgammaBackward0"


def test_kinks() -> None:
    """Where a derivative has to be chosen: 0 at a kink, infinite at a vertical tangent."""

    def slope(f: Callable[[Any], Any], at: float) -> float:
        x = compat.tensor(at, requires_grad=True)
        f(x).backward()
        return x.grad.item()

    assert slope(compat.relu, 0.0) == 0.0
    assert slope(compat.abs, 0.0) == 0.0
    assert slope(compat.sinc, 0.0) == 0.0
    assert slope(compat.asin, 1.0) == math.inf
    zero = compat.tensor(0.0)
    assert slope(lambda x: compat.atan2(x, zero), 0.0) == 0.0
    assert slope(lambda x: compat.hypot(x, zero), 0.0) == 0.0
    assert slope(lambda x: compat.xlogy(x, zero), 0.0) == 0.0
    assert slope(lambda x: compat.logaddexp(x, zero), 0.0) == 0.5
    assert slope(lambda x: compat.logit(x, eps=0.25), 0.1) == 0.0


VALUES: list[Callable[[Any], Any]] = [
    lambda m: m.log(m.tensor([0.0, -1.0, float("inf"), float("nan")])),
    lambda m: m.sigmoid(m.tensor([-1000.0, 1000.0, float("inf")])),
    lambda m: m.logit(m.tensor([0.1, 2.0, 0.0, 1.0])),
    lambda m: m.logit(m.tensor([0.1, 2.0]), eps=0.2),
    lambda m: m.logit(m.tensor([0, 1]), 0.2),
    lambda m: m.logaddexp(m.tensor([-float("inf"), 1000.0]), m.tensor([-float("inf"), 0.0])),
    lambda m: m.logaddexp(m.tensor([1.0]), 2.0),
    lambda m: m.atan2(m.tensor([1.0]), 2.0),
    lambda m: m.atan2(m.tensor([0.0, -0.0, 1.0]), m.tensor([-1.0, -1.0, 0.0])),
    lambda m: m.hypot(m.tensor([3e30]), m.tensor([4e30])),
    lambda m: m.xlogy(m.tensor([0.0, 0.0, 1.0]), m.tensor([0.0, float("nan"), 0.0])),
    lambda m: m.xlogy(2, 3),
    lambda m: m.erfinv(m.tensor([-1.0, 1.0, 2.0])),
    lambda m: m.lgamma(m.tensor([0.0, -1.0, -0.5])),
    lambda m: m.polygamma(-1, m.tensor([1.0])),
    lambda m: m.polygamma(1, m.tensor([1])),
    lambda m: m.mvlgamma(m.tensor([3]), 2),
    lambda m: m.mvlgamma(m.tensor([3.0]), 0),
    lambda m: m.special.entr(m.tensor([0.0, -1.0])),
    lambda m: m.special.zeta(m.tensor([2]), m.tensor([1])),
    lambda m: m.special.ndtri(m.tensor([0.0, 1.0])),
    lambda m: m.special.i1(m.tensor([0, 2])),
    lambda m: m.relu(m.tensor([True])),
    lambda m: m.relu(m.tensor([-3, 2])),
    lambda m: m.sinc(m.tensor([0, 1])),
    lambda m: m.deg2rad(m.tensor([180])),
    lambda m: m.deg2rad(m.tensor([1j])),
    lambda m: m.erf(m.tensor([1j])),
    lambda m: m.exp(m.tensor([1.0]), out=m.tensor([0.0], dtype=m.float64)),
    lambda m: m.exp(m.tensor([1.0]), out=m.tensor([0])),
    lambda m: m.exp(m.tensor([1.0], requires_grad=True), out=m.tensor([0.0])),
]


@needs_torch
@pytest.mark.parametrize("index", range(len(VALUES)))
def test_value(index: int) -> None:
    agree(VALUES[index])


def test_zeta_has_derivatives_by_both() -> None:
    """PyTorch has that by `other` only."""
    x, q = (
        compat.tensor(data, dtype=compat.float64, requires_grad=True)
        for data in ([1.5, 4.0], [1.0, 2.5])
    )
    assert compat.autograd.gradcheck(compat.special.zeta, (x, q))


@pytest.mark.parametrize("name", ["bessel_j1", "bessel_y0", "airy_ai", "spherical_bessel_j0"])
def test_derivatives_that_pytorch_does_not_have(name: str) -> None:
    x = compat.tensor([0.5, 1.5], dtype=compat.float64, requires_grad=True)
    f = getattr(compat.special, name)
    assert compat.autograd.gradcheck(f, (x,)) and compat.autograd.gradgradcheck(f, (x,))


@pytest.mark.parametrize(
    "name",
    [
        "legendre_polynomial_p",
        *(f"{shifted}chebyshev_polynomial_{k}" for shifted in ("", "shifted_") for k in "tuvw"),
    ],
)
@pytest.mark.parametrize("n", [0, 1, 4])
def test_derivatives_of_polynomials(name: str, n: int) -> None:
    x = compat.tensor([-1.2, 0.0, 0.3, 1.0], dtype=compat.float64, requires_grad=True)

    def f(x: Any) -> Any:
        return getattr(compat.special, name)(x, n)

    assert compat.autograd.gradcheck(f, (x,)) and compat.autograd.gradgradcheck(f, (x,))


def test_probabilities_by_shape() -> None:
    """Which PyTorch cannot differentiate."""
    a, x = (compat.tensor(v, dtype=compat.float64, requires_grad=True) for v in ([0.3, 7.0], 2.0))
    for f in (compat.igamma, compat.igammac):
        assert compat.autograd.gradcheck(f, (a, x)) and compat.autograd.gradgradcheck(f, (a, x))


@pytest.mark.parametrize("name", ["igamma", "igammac"])
def test_probabilities_take_tensors_only(name: str) -> None:
    for th in (compat, torch) if torch is not None else (compat,):
        x = th.tensor([1.0, 2.0])
        for args, said in (((x, 2), "'other' (position 2)"), ((2.0, x), "'input' (position 1)")):
            with pytest.raises(TypeError, match=re.escape(f"argument {said} must be Tensor, not")):
                getattr(th, name)(*args)
        with pytest.raises(TypeError, match="must be Tensor, not int"):
            getattr(x, name)(2)


def test_half_precision() -> None:
    x = compat.tensor([0.5, 1.0], dtype=compat.float16, requires_grad=True)
    for name in ("erf", "lgamma", "i0", "exp", "tanh", "sigmoid"):
        y = getattr(compat, name)(x)
        y.sum().backward()
        assert y.dtype is compat.float16 and x.grad.dtype is compat.float16
