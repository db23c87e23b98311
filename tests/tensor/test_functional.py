"""`torch.autograd.functional`: vjp, jvp, vhp, hvp, jacobian, hessian.

Each test runs on `compat` and, where it is installed, on PyTorch; those named so on `compat` only.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import compat

PRODUCTS = ["vjp", "jvp", "vhp", "hvp"]
MATRICES = ["jacobian", "hessian"]
# What PyTorch says about parts of itself when it first decomposes a function.
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit")


@pytest.fixture(params=["compat", "torch"])
def torch(request: pytest.FixtureRequest) -> Any:
    """The module: ours, and PyTorch where it is installed."""
    return compat if request.param == "compat" else pytest.importorskip("torch")


def close(found: Any, expected: Any) -> bool:
    """Whether (tuples or lists of) tensors are these numbers, in shape and in value."""
    if isinstance(found, tuple | list):
        return len(found) == len(expected) and all(map(close, found, expected))
    array = found.detach().numpy()
    return np.shape(array) == np.shape(expected) and np.allclose(array, expected, 1e-5, 1e-6)


def cubes(x: Any) -> Any:
    return (x**3).sum()


def mixed(x: Any, y: Any) -> Any:
    return (x * x * y).sum()


def pair(x: Any, y: Any) -> Any:
    return x @ y, x.sum()


def data(torch: Any) -> tuple[Any, Any, Any]:
    return (
        torch.tensor([1.0, 2.0]),
        torch.tensor([3.0, 5.0]),
        torch.tensor([[1.0, 2.0], [3.0, 4.0]]),
    )


# ---------------------------------------------------------------- products


def test_products_of_one_input(torch: Any) -> None:
    x, v, _ = data(torch)
    f = torch.autograd.functional
    assert close(f.vjp(lambda x: x * x, x, v), ([1, 4], [6, 20]))
    assert close(f.jvp(lambda x: x * x, x, v), ([1, 4], [6, 20]))
    assert close(f.vhp(cubes, x, v), (9, [18, 60]))
    assert close(f.hvp(cubes, x, v), (9, [18, 60]))


def test_products_of_several_inputs_and_outputs(torch: Any) -> None:
    x, y, m = data(torch)
    f = torch.autograd.functional
    one = torch.tensor(1.0)
    out, grads = f.vjp(pair, (x, m), (y, one))
    assert close(out, ([7, 10], 3)) and isinstance(out, tuple)
    assert close(grads, ([14, 30], [[3, 5], [6, 10]]))
    out, dots = f.jvp(pair, (x, m), (y, m))
    assert close(dots, ([18 + 7, 26 + 10], 8)) and isinstance(dots, tuple)
    assert close(f.vhp(mixed, (x, y), (y, x))[1], ([18 + 2, 50 + 8], [6, 20]))
    assert close(f.hvp(mixed, (x, y), (y, x))[1], ([18 + 2, 50 + 8], [6, 20]))


def test_answers_are_shaped_as_what_they_belong_to(torch: Any) -> None:
    """One tensor gives a tensor, a tuple of one a tuple of one."""
    x, v, _ = data(torch)
    f = torch.autograd.functional
    for name in ("vjp", "vhp", "hvp"):
        along = torch.tensor(1.0) if name == "vjp" else v
        assert isinstance(getattr(f, name)(cubes, (x,), along)[1], tuple)
        assert not isinstance(getattr(f, name)(cubes, x, along)[1], tuple)
    assert not isinstance(f.jvp(cubes, (x,), v)[1], tuple)
    out, dots = f.jvp(lambda x: (x * x,), x, v)
    assert isinstance(out, tuple) and isinstance(dots, tuple)


@pytest.mark.parametrize("name", PRODUCTS)
def test_vector_may_be_left_out_for_one_number(torch: Any, name: str) -> None:
    f = getattr(torch.autograd.functional, name)
    assert close(f(cubes, torch.tensor(2.0)), (8, 12))
    assert f(cubes, torch.tensor([2.0]))[1].numel() == 1


@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.parametrize("grad", [True, False])
def test_what_is_recorded(torch: Any, name: str, grad: bool) -> None:
    """Answers have a graph with `create_graph` only, also under `no_grad`."""
    f = getattr(torch.autograd.functional, name)
    p = torch.tensor([1.0, 2.0], requires_grad=True)
    v = torch.tensor(2.0 if name == "vjp" else [2.0, 1.0])
    with torch.set_grad_enabled(grad):
        out, product = f(cubes, p, v)
        assert not out.requires_grad and not product.requires_grad
        out, product = f(cubes, p, v, create_graph=True)
    assert out.requires_grad and product.requires_grad
    product.sum().backward()
    expected = {"vjp": [12.0, 24.0], "jvp": [12.0, 12.0], "vhp": [12.0, 6.0], "hvp": [12.0, 6.0]}
    assert p.grad.tolist() == expected[name]


@pytest.mark.parametrize("name", PRODUCTS)
def test_gradient_by_the_vector(torch: Any, name: str) -> None:
    f = getattr(torch.autograd.functional, name)
    x = torch.tensor([1.0, 2.0])
    v = torch.tensor(2.0 if name == "vjp" else [2.0, 1.0], requires_grad=True)
    product = f(cubes, x, v, create_graph=True)[1]
    (g,) = torch.autograd.grad(product.sum(), v)
    expected = {"vjp": 15.0, "jvp": [3.0, 12.0], "vhp": [6.0, 12.0], "hvp": [6.0, 12.0]}
    assert g.tolist() == expected[name]


@pytest.mark.parametrize("name", [*PRODUCTS, *MATRICES])
def test_nothing_is_left_on_the_inputs(torch: Any, name: str) -> None:
    x = torch.tensor([1.0, 2.0])
    given = (torch.tensor(1.0) if name == "vjp" else x,) if name in PRODUCTS else ()
    getattr(torch.autograd.functional, name)(cubes, x, *given)
    assert not x.requires_grad and x.grad is None
    p = x.clone().requires_grad_()
    getattr(torch.autograd.functional, name)(cubes, p, *given)
    assert p.requires_grad and p.grad is None


def test_complex_products(torch: Any) -> None:
    f = torch.autograd.functional
    z, v = torch.tensor([1 + 2j]), torch.tensor([1j])
    # PyTorch's convention: vjp is conj(J)^T v, jvp J v of a holomorphic function.
    assert close(f.vjp(lambda z: z * z, z, v)[1], [1j * (2 - 4j)])
    assert close(f.jvp(lambda z: z * z, z, v)[1], [1j * (2 + 4j)])
    assert close(f.vhp(lambda z: (z * z.conj()).real.sum(), z, v)[1], [2j])


def test_vector_of_another_dtype(torch: Any) -> None:
    """Gradients have the dtype of what they belong to, whatever they begin with."""
    x, v, _ = data(torch)
    found = torch.autograd.functional.vjp(lambda x: x * x, x, v.double())[1]
    assert close(found, [6, 20]) and found.dtype is torch.float32
    y, seen = x.requires_grad_() * 2, []
    y.register_hook(lambda g: seen.append(g.dtype))
    (g,) = torch.autograd.grad(y, x, torch.tensor([1, 2]))
    assert g.tolist() == [2.0, 4.0] and seen == [torch.float32]


@pytest.mark.parametrize("name", PRODUCTS)
def test_no_elements(torch: Any, name: str) -> None:
    f = getattr(torch.autograd.functional, name)
    x = torch.zeros(0)
    product = f(lambda x: x.sum(), x, torch.tensor(1.0) if name == "vjp" else x)[1]
    assert product.shape == (() if name == "jvp" else (0,))


def test_backward_inside_of_the_function(torch: Any) -> None:
    def slope(x: Any) -> Any:
        return torch.autograd.grad(cubes(x), x, create_graph=True)[0]

    x, v, _ = data(torch)
    assert close(torch.autograd.functional.jacobian(slope, x), [[6, 0], [0, 12]])
    assert close(torch.autograd.functional.jvp(slope, x, v), ([3, 12], [18, 60]))


# ---------------------------------------------------------------- Jacobians and Hessians

WAYS: list[dict[str, Any]] = [
    {},
    {"vectorize": True},
    {"create_graph": True},
    {"vectorize": True, "create_graph": True},
    {"vectorize": True, "strategy": "forward-mode"},
]
way = pytest.mark.parametrize("way", WAYS, ids=[" ".join(map(str, w.values())) for w in WAYS])


def jacobian(torch: Any, f: Any, x: Any, way: dict[str, Any]) -> Any:
    return torch.autograd.functional.jacobian(f, x, **way)


def hessian(torch: Any, f: Any, x: Any, way: dict[str, Any]) -> Any:
    names = {"strategy": "outer_jacobian_strategy"}
    options = {names.get(k, k): v for k, v in way.items()}
    return torch.autograd.functional.hessian(f, x, **options)


@way
def test_jacobian_of_one_input(torch: Any, way: dict[str, Any]) -> None:
    x, _, m = data(torch)
    assert close(jacobian(torch, lambda x: x * x, x, way), [[2, 0], [0, 4]])
    assert close(jacobian(torch, cubes, x, way), [3, 12])
    assert close(jacobian(torch, cubes, torch.tensor(2.0), way), 12)
    assert close(jacobian(torch, lambda x: cubes(x).reshape(1), x, way), [[3, 12]])
    found = jacobian(torch, lambda m: m.t() * 2, m, way)
    assert found.shape == (2, 2, 2, 2)
    expected = np.einsum("ik,jl->jikl", np.eye(2), np.eye(2)) * 2
    assert close(found, expected)


@way
def test_jacobian_of_several(torch: Any, way: dict[str, Any]) -> None:
    x, y, m = data(torch)
    by_x, by_m = jacobian(torch, pair, (x, m), way)
    product = np.zeros((2, 2, 2))
    product[0, :, 0] = product[1, :, 1] = [1, 2]
    assert close(by_x, ([[1, 3], [2, 4]], product))
    assert close(by_m, ([1, 1], np.zeros((2, 2))))
    assert close(jacobian(torch, mixed, (x, y), way), ([6, 20], [1, 4]))
    assert close(jacobian(torch, lambda x: (x * x,), (x,), way), [[[[2, 0], [0, 4]]]])


@way
def test_constant_parts_are_zero(torch: Any, way: dict[str, Any]) -> None:
    x, y, _ = data(torch)
    by = jacobian(torch, lambda x: (x[0] * x[1], torch.tensor([5.0]), x**3), x, way)
    assert close(by, ([2, 1], [[0, 0]], [[3, 0], [0, 12]]))
    assert close(jacobian(torch, lambda x, y: (x * x).sum(), (x, y), way), ([2, 4], [0, 0]))
    assert close(jacobian(torch, lambda x: torch.tensor([1.0, 2.0]), x, way), np.zeros((2, 2)))


@way
def test_other_dtypes(torch: Any, way: dict[str, Any]) -> None:
    """The derivative has the dtype of the input; forward mode's has that of the output."""
    x, _, _ = data(torch)
    found = jacobian(torch, lambda x: x.double() ** 2, x, way)
    assert close(found, [[2, 0], [0, 4]])
    is_forward = way.get("strategy") == "forward-mode"
    assert found.dtype is (torch.float64 if is_forward else torch.float32)
    a, b = jacobian(torch, lambda x, y: (x * y).sum(), (x, x.double()), way)
    assert close((a, b), ([1, 2], [1, 2])) and b.dtype is torch.float64


@way
def test_complex_input_of_a_real_function(torch: Any, way: dict[str, Any]) -> None:
    if "strategy" in way:
        pytest.skip("forward mode gives the derivative along 1")
    z = torch.tensor([1 + 2j])
    assert close(jacobian(torch, lambda z: (z * z.conj()).real.sum(), z, way), [2 + 4j])


@way
def test_hessian_of_one_input(torch: Any, way: dict[str, Any]) -> None:
    x, _, m = data(torch)
    assert close(hessian(torch, cubes, x, way), [[6, 0], [0, 12]])
    assert close(hessian(torch, lambda x: cubes(x).reshape(1, 1), x, way), [[6, 0], [0, 12]])
    assert close(hessian(torch, cubes, torch.tensor(2.0), way), 12)
    assert hessian(torch, cubes, m, way).shape == (2, 2, 2, 2)
    assert close(hessian(torch, lambda x: x.sum(), x, way), np.zeros((2, 2)))


@way
def test_hessian_of_several(torch: Any, way: dict[str, Any]) -> None:
    x, y, m = data(torch)
    found = hessian(torch, mixed, (x, y), way)
    assert close(
        found, [[[[6, 0], [0, 10]], [[2, 0], [0, 4]]], [[[2, 0], [0, 4]], np.zeros((2, 2))]]
    )
    assert close(hessian(torch, cubes, (x,), way), [[[[6, 0], [0, 12]]]])
    found = hessian(torch, lambda x, m: (x * x).sum(), (x, m), way)
    assert close(found[1], [np.zeros((2, 2, 2)), np.zeros((2, 2, 2, 2))])


@pytest.mark.parametrize("vectorize", [False, True])
def test_matrices_that_are_recorded(torch: Any, vectorize: bool) -> None:
    p = torch.tensor([1.0, 2.0], requires_grad=True)
    for name, expected in (("jacobian", [6.0, 12.0]), ("hessian", [6.0, 6.0])):
        f = getattr(torch.autograd.functional, name)
        assert not f(cubes, p, vectorize=vectorize).requires_grad
        found = f(cubes, p, create_graph=True, vectorize=vectorize)
        assert found.grad_fn.name() == "ViewBackward0"
        (g,) = torch.autograd.grad(found.sum(), p)
        assert g.tolist() == expected


def test_compat_no_elements_of_matrices() -> None:
    """PyTorch raises for each of these."""
    f = compat.autograd.functional
    for way in WAYS:
        empty = compat.zeros(0)
        assert jacobian(compat, lambda x: x * x, empty, way).shape == (0, 0)
        assert jacobian(compat, lambda x: x.sum(), empty, way).shape == (0,)
        assert jacobian(compat, lambda x: x[:0], compat.ones(2), way).shape == (0, 2)
        assert hessian(compat, lambda x: x.sum(), empty, way).shape == (0, 0)
    assert f.vjp(lambda x: x * x, compat.zeros(0), compat.zeros(0))[1].shape == (0,)


@settings(deadline=None, max_examples=25)
@given(st.lists(st.floats(-2, 2), min_size=1, max_size=3), st.integers(0, 2**20))
def test_compat_products_are_products(x: list[float], seed: int) -> None:
    """vjp, jvp, vhp, hvp against `jacobian` and `hessian`, and these in all their ways."""
    f = compat.autograd.functional
    rng = np.random.default_rng(seed)
    weights = compat.tensor(rng.normal(size=(2, len(x))))
    point = compat.tensor(x, dtype=compat.float64)
    v = compat.tensor(rng.normal(size=len(x)))
    u = compat.tensor(rng.normal(size=2))

    def layer(x: Any) -> Any:
        return (weights @ x).tanh()

    def loss(x: Any) -> Any:
        return (layer(x) ** 2).sum() + x.prod()

    jac = f.jacobian(layer, point)
    hess = f.hessian(loss, point)
    for way in WAYS:
        assert close(jacobian(compat, layer, point, way), jac.numpy())
        assert close(hessian(compat, loss, point, way), hess.numpy())
    assert close(f.vjp(layer, point, u)[1], (u @ jac).numpy())
    assert close(f.jvp(layer, point, v)[1], (jac @ v).numpy())
    assert close(f.vhp(loss, point, v)[1], (v @ hess).numpy())
    assert close(f.hvp(loss, point, v)[1], (hess @ v).numpy())
    assert close(hess.t(), hess.numpy())


# ---------------------------------------------------------------- strict mode

STRICT: list[tuple[str, Callable[..., Any], str]] = [
    ("vjp", lambda f, x, v: f(lambda x: v, x, v, strict=True), "Output 0 of the user-provided"),
    ("jvp", lambda f, x, v: f(lambda x: v, x, v, strict=True), "Output 0 of the user-provided"),
    ("vhp", lambda f, x, v: f(lambda x: v, x, v, strict=True), "Output 0 of the user-provided"),
    ("hvp", lambda f, x, v: f(lambda x: v, x, v, strict=True), "Output 0 of the user-provided"),
    ("jacobian", lambda f, x, v: f(lambda x: v, x, strict=True), "Output 0 of the user-provided"),
    ("hessian", lambda f, x, v: f(lambda x: v, x, strict=True), "Output 0 of the user-provided"),
    (
        "vjp",
        lambda f, x, v: f(lambda x, y: x * 2, (x, x), v, strict=True),
        "The output of the user-provided function is independent of input 1",
    ),
    (
        "jvp",
        lambda f, x, v: f(lambda x, y: x * 2, (x, x), (v, v), strict=True),
        "The output of the user-provided function is independent of input 1",
    ),
    (
        "vjp",
        lambda f, x, v: f(lambda x: x * 2, x, v, strict=True, create_graph=True),
        "The jacobian of the user-provided function is independent of input 0",
    ),
    (
        "vhp",
        lambda f, x, v: f(lambda x: x.sum(), x, v, strict=True),
        "jacobian of the user-provided function with respect to input 0 is independent",
    ),
    (
        "hvp",
        lambda f, x, v: f(lambda x: x.sum(), x, v, strict=True),
        "jacobian of the user-provided function with respect to input 0 is independent",
    ),
    (
        "jacobian",
        lambda f, x, v: f(lambda x, y: x * 2, (x, x), strict=True),
        "Output 0 of the user-provided function is independent of input 1",
    ),
    (
        "jacobian",
        lambda f, x, v: f(lambda x: x.sum(), x, strict=True, create_graph=True),
        "The jacobian of the user-provided function is independent of input 0",
    ),
    (
        "hessian",
        lambda f, x, v: f(lambda x: x.sum(), x, strict=True),
        "jacobian of the user-provided function with respect to input 0 is independent",
    ),
]


@pytest.mark.parametrize(("name", "call", "message"), STRICT)
def test_strict(torch: Any, name: str, call: Callable[..., Any], message: str) -> None:
    f = getattr(torch.autograd.functional, name)
    x, v, _ = data(torch)
    with pytest.raises(RuntimeError, match=re.escape(message)):
        call(f, x, v)


@pytest.mark.parametrize("name", [*PRODUCTS, *MATRICES])
def test_strict_and_dependent(torch: Any, name: str) -> None:
    x, v, _ = data(torch)
    given = (torch.tensor(1.0) if name == "vjp" else v,) if name in PRODUCTS else ()
    f = getattr(torch.autograd.functional, name)
    strict, lax = f(cubes, x, *given, strict=True), f(cubes, x, *given)
    assert close(strict, lax if name in MATRICES else [a.tolist() for a in lax])


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize("name", [*PRODUCTS, *MATRICES])
def test_types_of_arguments(torch: Any, name: str) -> None:
    f = getattr(torch.autograd.functional, name)
    x, v, _ = data(torch)
    given = (v,) if name in PRODUCTS else ()
    with pytest.raises(TypeError, match=f"The inputs given to {name} must be either a Tensor or a"):
        f(cubes, [x], *given)
    with pytest.raises(TypeError, match=r"the value at index 1 has type <class 'float'>"):
        f(cubes, (x, 3.0), *given)
    with pytest.raises(TypeError, match="outputs of the user-provided function"):
        f(lambda x: 3.0, x, *given)
    if name in PRODUCTS:
        with pytest.raises(TypeError, match=f"The v given to {name} must be"):
            f(cubes, x, 3.0)


@pytest.mark.parametrize("name", ["vhp", "hvp", "hessian"])
def test_value_that_is_not_one_number(torch: Any, name: str) -> None:
    f = getattr(torch.autograd.functional, name)
    x, v, _ = data(torch)
    given = (v,) if name in PRODUCTS else ()
    with pytest.raises(RuntimeError, match=f"function given to {name} should contain a single"):
        f(lambda x: x * 2, x, *given)
    with pytest.raises(RuntimeError, match=f"The function given to {name} should return a single"):
        f(lambda x: (x.sum(), x.sum()), x, *given)


@pytest.mark.parametrize(
    ("name", "call", "message"),
    [
        (
            "vjp",
            lambda f, x, m: f(lambda x: x * x, x),
            "The vector v can only be None if the user-",
        ),
        ("jvp", lambda f, x, m: f(cubes, x), "The vector v can only be None if the input to the"),
        ("hvp", lambda f, x, m: f(cubes, x), "The vector v can only be None if the input to the"),
        (
            "jvp",
            lambda f, x, m: f(cubes, x, m),
            "v has invalid size: should be torch.Size([2]) but",
        ),
        ("vhp", lambda f, x, m: f(cubes, (x,), m), "Entry 0 in v has invalid size: should be"),
        ("vhp", lambda f, x, m: f(cubes, x, (x, x)), "The given v should contain a single Tensor."),
        (
            "vhp",
            lambda f, x, m: f(cubes, (x,), (x, x)),
            "v is a tuple of invalid length: should be 1 but got 2.",
        ),
        (
            "hvp",
            lambda f, x, m: f(mixed, (x, x), (x, m)),
            "Entry 1 in v has invalid size: should be torch.Size([2]) but got torch.Size([2, 2])",
        ),
    ],
)
def test_vectors_that_do_not_fit(
    torch: Any, name: str, call: Callable[..., Any], message: str
) -> None:
    x, _, m = data(torch)
    with pytest.raises(RuntimeError, match=re.escape(message)):
        call(getattr(torch.autograd.functional, name), x, m)


def test_integers(torch: Any) -> None:
    with pytest.raises(RuntimeError, match="nly Tensors of floating point"):
        torch.autograd.functional.jacobian(lambda x: x * 2, torch.tensor([1, 2]))


@pytest.mark.parametrize("name", MATRICES)
def test_options_that_do_not_go_together(torch: Any, name: str) -> None:
    f = getattr(torch.autograd.functional, name)
    x = torch.tensor([1.0, 2.0])
    key = "strategy" if name == "jacobian" else "outer_jacobian_strategy"
    forward = {key: "forward-mode"}
    with pytest.raises(AssertionError, match="either"):
        f(cubes, x, **{key: "sideways"})
    with pytest.raises(NotImplementedError, match=r"only implemented for `vectorize=True`"):
        f(cubes, x, **forward)
    with pytest.raises(RuntimeError, match="not supported together"):
        f(cubes, x, strict=True, vectorize=True)
    with pytest.raises(RuntimeError, match="not supported together"):
        f(cubes, x, strict=True, vectorize=True, **forward)
    with pytest.raises(NotImplementedError, match="not supported together"):
        f(cubes, x, create_graph=True, vectorize=True, **forward)


def test_parts_that_minimisers_call(torch: Any) -> None:
    """The pieces of which packages build Jacobians of their own, under PyTorch's names."""
    parts = torch.autograd.functional
    x, y = torch.ones(2), torch.zeros(())
    assert parts._as_tuple(x, "inputs", "f") == (False, (x,))
    assert parts._as_tuple((x, y), "inputs", "f") == (True, (x, y))
    basis = parts._construct_standard_basis_for((x, y), (2, 1))
    assert [b.tolist() for b in basis] == [[[1, 0], [0, 1], [0, 0]], [[0], [0], [1]]]
    for flags, expected in (
        (True, ((1, 2), (3, 4))),
        (False, (1, 2)),
        ((True, False), (1, 3)),
        ((False, True), (1, 2)),
        ((False, False), 1),
    ):
        assert parts._tuple_postprocess(((1, 2), (3, 4)), flags) == expected
