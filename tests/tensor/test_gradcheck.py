"""`gradcheck` and `gradgradcheck`: what passes, and every kind of mistake that must not.

Each test runs on `compat` and, where it is installed, on PyTorch; those named so on `compat` only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import compat

# What PyTorch says about parts of itself when it first decomposes a function.
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit")


@pytest.fixture(params=["compat", "torch"])
def torch(request: pytest.FixtureRequest) -> Any:
    """The module: ours, and PyTorch where it is installed."""
    return compat if request.param == "compat" else pytest.importorskip("torch")


@pytest.fixture(params=[False, True], ids=["slow", "fast"])
def fast(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def leaf(torch: Any, data: Any, dtype: str = "float64") -> Any:
    return torch.tensor(data, dtype=getattr(torch, dtype), requires_grad=True)


def error(torch: Any) -> type[Exception]:
    return torch.autograd.gradcheck.__globals__["GradcheckError"]  # type: ignore[no-any-return]


def function(
    torch: Any, forward: Any, backward: Any, jvp: Any = None, materialize: bool = True
) -> Callable[..., Any]:
    """A `Function` of one input; `backward(x, *grads)`, `jvp(x, t)`."""

    class Made(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            ctx.set_materialize_grads(materialize)
            return forward(x)

    def make_backward(ctx: Any, *grads: Any) -> Any:
        return backward(*ctx.saved_tensors, *grads)

    def make_jvp(ctx: Any, t: Any) -> Any:
        return jvp(*ctx.saved_tensors, t)

    Made.backward = staticmethod(make_backward)
    if jvp is not None:
        Made.jvp = staticmethod(make_jvp)
    return Made.apply  # type: ignore[no-any-return]


# ---------------------------------------------------------------- what is right

RIGHT: list[tuple[str, Callable[[Any], tuple[Any, Any]]]] = [
    ("one", lambda torch: (lambda x: x * x, leaf(torch, [0.5, 2.0]))),
    ("no axes", lambda torch: (lambda x: x.sin(), leaf(torch, 0.5))),
    ("no elements", lambda torch: (lambda x: x * x, leaf(torch, []))),
    ("two", lambda torch: (lambda x, y: x * y, (leaf(torch, [1.0, 2.0]), leaf(torch, [3.0, 4.0])))),
    (
        "constants",
        lambda torch: (lambda x, c, n: (x + c) ** n, (leaf(torch, [1.0]), torch.ones(1), 3)),
    ),
    ("several results", lambda torch: (lambda x: (x * 2, x.sum()), leaf(torch, [1.0, 2.0]))),
    (
        "shapes",
        lambda torch: (lambda x: x.t()[0].expand(3, 2), leaf(torch, [[1.0, 2.0], [3.0, 4.0]])),
    ),
    ("written", lambda torch: (lambda x: x.clone().mul_(x), leaf(torch, [1.0, 2.0]))),
    (
        "transposed",
        lambda torch: (lambda x: x * x, (leaf(torch, [[1.0, 2.0], [3.0, 4.0]]) * 1).t()),
    ),
    ("beside the kink", lambda torch: (lambda x: x.relu() + x.abs(), leaf(torch, [-1.0, 1.0]))),
    ("complex", lambda torch: (lambda z: z * z, leaf(torch, [1 + 2j, 0.5 - 1j], "complex128"))),
    ("absolute", lambda torch: (lambda z: z.abs(), leaf(torch, [1 + 2j, 0.5j], "complex128"))),
    ("parts", lambda torch: (lambda z: (z.real, z.imag * 2), leaf(torch, [1 + 2j], "complex128"))),
    ("to complex", lambda torch: (lambda x: torch.complex(x, x * x), leaf(torch, [1.0, 2.0]))),
    (
        "complex and real",
        lambda torch: (
            lambda z, x: (z.conj() * x).imag,
            (leaf(torch, [1 + 2j], "complex128"), leaf(torch, [3.0])),
        ),
    ),
]


@pytest.mark.parametrize(("name", "case"), RIGHT, ids=[name for name, _ in RIGHT])
@pytest.mark.parametrize("forward", [False, True], ids=["reverse", "forward"])
def test_right(torch: Any, fast: bool, forward: bool, name: str, case: Any) -> None:
    f, inputs = case(torch)
    assert torch.autograd.gradcheck(f, inputs, fast_mode=fast, check_forward_ad=forward)


@pytest.mark.parametrize(("name", "case"), RIGHT, ids=[name for name, _ in RIGHT])
def test_right_twice(torch: Any, fast: bool, name: str, case: Any) -> None:
    f, inputs = case(torch)
    assert torch.autograd.gradgradcheck(f, inputs, fast_mode=fast)


def test_all_checks_at_once(torch: Any, fast: bool) -> None:
    x = leaf(torch, [[0.1, 0.2], [0.3, 0.4]])

    def f(x: Any) -> Any:
        return (x @ x).exp()

    assert torch.autograd.gradcheck(
        f,
        x,
        check_batched_grad=True,
        check_batched_forward_grad=True,
        check_forward_ad=True,
        check_grad_dtypes=True,
        fast_mode=fast,
    )
    assert torch.autograd.gradgradcheck(
        f,
        x,
        gen_non_contig_grad_outputs=True,
        check_batched_grad=True,
        check_fwd_over_rev=True,
        check_grad_dtypes=True,
        fast_mode=fast,
    )
    assert torch.autograd.gradgradcheck(f, x, torch.ones(2, 2, dtype=torch.float64))


def test_nothing_is_left_behind(torch: Any, fast: bool) -> None:
    x = leaf(torch, [0.3, 1.2])
    torch.autograd.gradcheck(lambda x: x.sin(), x, fast_mode=fast)
    assert x.tolist() == [0.3, 1.2] and x.grad is None


def test_compat_inputs_come_back_after_an_error(fast: bool) -> None:
    """PyTorch leaves the one that it has moved."""
    x = leaf(compat, [0.3, 1.2])
    with pytest.raises(KeyError):
        compat.autograd.gradcheck(failing_after(2), x, fast_mode=fast)
    assert x.tolist() == [0.3, 1.2]


def failing_after(count: int) -> Callable[[Any], Any]:
    """A function that raises from its third call on, when its input has been moved."""
    calls: list[int] = []

    def f(x: Any) -> Any:
        calls.append(0)
        if len(calls) > count:
            raise KeyError
        return x * x

    return f


# ---------------------------------------------------------------- what is wrong

WRONG: list[tuple[str, Callable[[Any], Callable[..., Any]], str]] = [
    (
        "another function",
        lambda torch: function(torch, lambda x: x.sin(), lambda x, g: g * x.sin()),
        "Jacobian mismatch for output 0 with respect to input 0,\nnumerical:",
    ),
    (
        "sign",
        lambda torch: function(torch, lambda x: x.cos(), lambda x, g: g * x.sin()),
        "Jacobian mismatch for output 0 with respect to input 0,\nnumerical:",
    ),
    (
        "one element",
        lambda torch: function(
            torch, lambda x: x * 2, lambda x, g: g * torch.tensor([2.0, 2.1]).double()
        ),
        "Jacobian mismatch for output 0",
    ),
    (
        "the second result",
        lambda torch: function(
            torch,
            lambda x: (x * 2, x * 3),
            lambda x, g, h: g * 2 + h * 2,
        ),
        "Jacobian mismatch for output 1",
    ),
    (
        "not a function of the cotangent",
        lambda torch: function(torch, lambda x: x.sin(), lambda x, g: x.cos()),
        "Jacobian mismatch for output 0",
    ),
    ("cut off", lambda torch: lambda x: x * x.detach(), "Jacobian mismatch for output 0"),
    (
        "not linear in the cotangent",
        lambda torch: function(torch, lambda x: x * 2, lambda x, g: g * 2 + (g == 0) * 0.5),
        "Jacobian mismatch|backward not multiplied by grad_output",
    ),
]


@pytest.mark.parametrize(("name", "make", "message"), WRONG, ids=[w[0] for w in WRONG])
def test_wrong(torch: Any, fast: bool, name: str, make: Any, message: str) -> None:
    x, f = leaf(torch, [0.3, 1.2]), make(torch)
    with pytest.raises(error(torch), match=message):
        torch.autograd.gradcheck(f, x, fast_mode=fast)
    assert not torch.autograd.gradcheck(f, x, fast_mode=fast, raise_exception=False)


def test_the_message_shows_both_jacobians(torch: Any) -> None:
    f = function(torch, lambda x: x * 2, lambda x, g: g * 3)
    with pytest.raises(error(torch)) as caught:
        torch.autograd.gradcheck(f, leaf(torch, [1.0, 2.0]))
    numerical, analytical = str(caught.value).split("\nanalytical:")
    assert "2.0000, 0.0000" in numerical and "3., 0." in analytical


def test_wrong_second_derivative(torch: Any, fast: bool) -> None:
    f = function(torch, lambda x: x.sin(), lambda x, g: g * x.detach().cos())
    x = leaf(torch, [0.3, 1.2])
    assert torch.autograd.gradcheck(f, x, fast_mode=fast)
    with pytest.raises(
        error(torch), match="Jacobian mismatch for output 0 with respect to input 0"
    ):
        torch.autograd.gradgradcheck(f, x, fast_mode=fast)
    assert not torch.autograd.gradgradcheck(f, x, fast_mode=fast, raise_exception=False)


def test_wrong_complex_derivative(torch: Any, fast: bool) -> None:
    """Without the conjugate; also where only the imaginary part of the gradient is wrong."""
    z = leaf(torch, [1 + 2j, 0.5 - 1j], "complex128")
    square = function(torch, lambda z: z * z, lambda z, g: g * 2 * z)
    with pytest.raises(error(torch), match="Jacobian mismatch for output 0"):
        torch.autograd.gradcheck(square, z, fast_mode=fast)
    right = function(torch, lambda z: z * z, lambda z, g: g * 2 * z.conj())
    assert torch.autograd.gradcheck(right, z, fast_mode=fast)
    real = function(torch, lambda z: (z * z.conj()).real, lambda z, g: 2 * g * z.conj())
    with pytest.raises(error(torch), match="Jacobian mismatch for output 0"):
        torch.autograd.gradcheck(real, z, fast_mode=fast)


def test_which_part_of_a_complex_output(torch: Any) -> None:
    z = leaf(torch, [1 + 2j], "complex128")
    square = function(torch, lambda z: z * z, lambda z, g: g * 2 * z)
    with pytest.raises(
        error(torch), match="While considering the imaginary part of complex outputs"
    ):
        torch.autograd.gradcheck(square, z)


def test_wrong_forward_mode(torch: Any, fast: bool) -> None:
    f = function(torch, lambda x: x * x, lambda x, g: g * 2 * x, jvp=lambda x, t: t * x)
    x = leaf(torch, [0.3, 1.2])
    assert torch.autograd.gradcheck(f, x, fast_mode=fast)
    for backward in (True, False):
        with pytest.raises(error(torch), match="Jacobian computed with forward mode mismatch"):
            torch.autograd.gradcheck(
                f, x, fast_mode=fast, check_forward_ad=True, check_backward_ad=backward
            )


# ---------------------------------------------------------------- kinks, dtypes, tolerances


@pytest.mark.parametrize("name", ["relu", "abs"])
def test_kinks(torch: Any, fast: bool, name: str) -> None:
    """At a kink the difference is the mean of both sides. `abs` has that as its derivative."""
    x = leaf(torch, [0.0])
    f = getattr(torch, name)
    if name == "abs":
        assert torch.autograd.gradcheck(f, x, fast_mode=fast)
        return
    with pytest.raises(error(torch), match="Jacobian mismatch"):
        torch.autograd.gradcheck(f, x, fast_mode=fast)


def test_single_precision(torch: Any, fast: bool) -> None:
    x = leaf(torch, [0.5, 1.5], "float32")
    warning = "Input #0 requires gradient and is not a double precision"
    with pytest.warns(UserWarning, match=warning), pytest.raises(error(torch)):
        torch.autograd.gradcheck(torch.sin, x, fast_mode=fast)
    with pytest.warns(UserWarning, match=warning):
        assert torch.autograd.gradcheck(
            torch.sin, x, eps=1e-2, atol=1e-2, rtol=1e-2, fast_mode=fast
        )


def test_tolerances(torch: Any) -> None:
    f = function(torch, lambda x: x * 2, lambda x, g: g * 2.01)
    x = leaf(torch, [1.0])
    assert not torch.autograd.gradcheck(f, x, raise_exception=False)
    assert torch.autograd.gradcheck(f, x, atol=0.02)
    assert torch.autograd.gradcheck(f, x, rtol=0.02)
    assert not torch.autograd.gradcheck(f, x, rtol=0.002, atol=0.002, raise_exception=False)


def test_no_number(torch: Any, fast: bool) -> None:
    with np.errstate(all="ignore"):
        for f, at in (
            (lambda x: x * float("nan"), [1.0]),
            (lambda x: (x * x).sqrt(), [0.0]),
        ):
            with pytest.raises(error(torch), match="Jacobian mismatch"):
                torch.autograd.gradcheck(f, leaf(torch, at), fast_mode=fast)


def test_a_program_that_becomes_c_between_two_runs_is_reentrant(fast: bool) -> None:
    """From then on it rounds differently; what is random does so every time."""
    for steps, passes in (
        ([0.0, 1e-15], True),
        ([0.0, 1e-15, 0.0, 1e-15], False),
        ([0, 1e-6], False),
    ):
        left = list(steps)

        def backward(x: Any, g: Any, left: list[float] = left) -> Any:
            return g * (2 + (left.pop(0) if len(left) > 1 else left[0]))

        f = function(compat, lambda x: x * 2, backward)
        x = leaf(compat, [1.0])
        found = compat.autograd.gradcheck(f, x, fast_mode=fast, raise_exception=False)
        assert found is passes


def test_not_the_same_every_time(torch: Any, fast: bool) -> None:
    """Backward that changes from run to run, by less than the tolerances."""
    runs = [0.0]

    def backward(x: Any, g: Any) -> Any:
        runs[0] += 1e-7
        return g * (2 + runs[0])

    f = function(torch, lambda x: x * 2, backward)
    x = leaf(torch, [1.0, 2.0])
    with pytest.raises(error(torch), match=r"Backward is not reentrant.*nondeterminism was 0\.0"):
        torch.autograd.gradcheck(f, x, fast_mode=fast)
    assert torch.autograd.gradcheck(f, x, nondet_tol=1e-3, fast_mode=fast)


def test_function_that_is_random(torch: Any, fast: bool) -> None:
    x = leaf(torch, [1.0, 2.0])
    with pytest.raises(error(torch), match="Jacobian mismatch"):
        torch.autograd.gradcheck(
            lambda x: x * torch.rand(2, dtype=torch.float64), x, fast_mode=fast
        )


# ---------------------------------------------------------------- further checks


def test_undefined_gradients(torch: Any, fast: bool) -> None:
    """A backward that cannot do with one of two cotangents."""
    f = function(torch, lambda x: (x * 2, x * 3), lambda x, g, h: g * 2 + h * 3, materialize=False)
    x = leaf(torch, [1.0, 2.0])
    with pytest.raises((error(torch), TypeError)):
        torch.autograd.gradcheck(f, x, fast_mode=fast)

    def careful(x: Any, g: Any, h: Any) -> Any:
        return (x * 0 if g is None else g * 2) + (x * 0 if h is None else h * 3)

    f = function(torch, lambda x: (x * 2, x * 3), careful, materialize=False)
    assert torch.autograd.gradcheck(f, x, fast_mode=fast)


def test_result_that_does_not_depend(torch: Any, fast: bool) -> None:
    x, c = leaf(torch, [1.0, 2.0]), torch.ones(2, dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda x: c * 2, x, fast_mode=fast)
    with pytest.raises(error(torch), match="Numerical gradient for function expected to be zero"):
        torch.autograd.gradcheck(lambda x: x.detach() * 2, x, fast_mode=fast)


def test_wrong_shape_of_a_gradient(torch: Any, fast: bool) -> None:
    f = function(torch, lambda x: x.sum(), lambda x, g: g[None].expand(3))
    with pytest.raises(RuntimeError, match="returned an invalid gradient at index 0"):
        torch.autograd.gradcheck(f, leaf(torch, [1.0, 2.0]), fast_mode=fast)


def test_shape_that_changes(torch: Any, fast: bool) -> None:
    runs: list[int] = []

    def f(x: Any) -> Any:
        runs.append(0)
        return x * x if len(runs) < 3 else (x * x)[:1]

    with pytest.raises(AssertionError, match="with the same shape when inputs are perturbed"):
        torch.autograd.gradcheck(f, leaf(torch, [1.0, 2.0]), fast_mode=fast)


def test_compat_batches_that_differ() -> None:
    """A backward that does something else under vmap."""

    def backward(x: Any, g: Any) -> Any:
        is_batched = not isinstance(g._array, np.ndarray)
        return g * (3 if is_batched else 2)

    f = function(compat, lambda x: x * 2, backward)
    x = leaf(compat, [1.0, 2.0])
    assert compat.autograd.gradcheck(f, x)
    with pytest.raises(error(compat), match="failed while testing batched gradient computation"):
        compat.autograd.gradcheck(f, x, check_batched_grad=True)


# ---------------------------------------------------------------- refused arguments


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda check, twice, x: check(lambda x: x, x, check_backward_ad=False),
            AssertionError,
            "Expected at least one of check_forward_ad or check_backward_ad to be True",
        ),
        (
            lambda check, twice, x: check(
                lambda x: x,
                x,
                check_batched_grad=True,
                check_backward_ad=False,
                check_forward_ad=True,
            ),
            AssertionError,
            "Setting check_batched_grad=True requires check_backward_ad to be True",
        ),
        (
            lambda check, twice, x: check(lambda x: x, x, check_batched_forward_grad=True),
            AssertionError,
            "Setting check_batched_forward_grad=True requires check_forward_ad to be True",
        ),
        (
            lambda check, twice, x: twice(lambda x: x, x, check_rev_over_rev=False),
            AssertionError,
            "Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True",
        ),
        (
            lambda check, twice, x: twice(
                lambda x: x, x, check_fwd_over_rev=True, check_rev_over_rev=False
            ),
            AssertionError,
            "Setting check_undefined_grad=True requires check_rev_over_rev to be True",
        ),
        (
            lambda check, twice, x: check(lambda x: x, x.detach()),
            ValueError,
            "gradcheck expects at least one input tensor to require gradient",
        ),
        (
            lambda check, twice, x: check(
                lambda x: x * x, x.detach().expand(3, 2).requires_grad_()
            ),
            RuntimeError,
            "The 0th input has a dimension with stride 0",
        ),
        (
            lambda check, twice, x: check(lambda x: x.mul_(2), x),
            RuntimeError,
            "a leaf Variable that requires grad",
        ),
    ],
)
def test_refused(torch: Any, call: Callable[..., Any], kind: type[Exception], message: str) -> None:
    check, twice = torch.autograd.gradcheck, torch.autograd.gradgradcheck
    with pytest.raises(kind, match=message):
        call(check, twice, leaf(torch, [1.0, 2.0]))


def test_errors_are_runtime_errors(torch: Any) -> None:
    assert issubclass(error(torch), RuntimeError)


# ---------------------------------------------------------------- any wrong factor


@settings(deadline=None, max_examples=40)
@given(
    shape=st.lists(st.integers(1, 3), max_size=2),
    factor=st.floats(0.5, 2.0),
    kind=st.sampled_from(["float64", "complex128"]),
    fast=st.booleans(),
)
def test_compat_finds_wrong_factors(shape: list[int], factor: float, kind: str, fast: bool) -> None:
    """The gradient times a factor passes if that is (nearly) 1, and fails if it is not."""
    rng = np.random.default_rng(0)
    at = rng.uniform(0.5, 1.0, shape) + 1j * rng.uniform(0.5, 1.0, shape)
    x = leaf(compat, at if kind == "complex128" else at.real, kind)
    f = function(compat, lambda x: x * x, lambda x, g: g * 2 * x.conj() * factor)
    found = compat.autograd.gradcheck(f, x, fast_mode=fast, raise_exception=False)
    if abs(factor - 1) < 5e-4:
        assert found
    elif abs(factor - 1) > 0.05:
        assert not found


def test_inputs_without_elements(torch: Any, fast: bool) -> None:
    x = torch.zeros(2, 0, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: x.sum(), x, fast_mode=fast)
