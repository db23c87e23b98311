"""Complex numbers: parts, conjugates, angles; gradients in PyTorch's convention."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from elementwise import agree, needs_torch
from harness import C, Call, F, call, check

import compat

CALLS = [
    call("real", C(2, 3)),
    call("imag", C(2, 3)),
    call("real", F(2)),
    call("conj", F(2)),
    call("conj_physical", C(2)),
    call(".conj_physical_", C(2)),
    call("resolve_conj", C(2)),
    call("resolve_neg", C(2)),
    call("angle", C(2, 3)),
    call("angle", F(2, 3)),
    call("abs", C()),
    call("complex", F(2, 3), F(3)),
    call("complex", F(), F()),
    call("polar", F(2, 3, low=0.1), F(3)),
    call("view_as_real", C(2, 3)),
    call("view_as_real", C()),
    call("view_as_complex", F(3, 2)),
    call("view_as_complex", F(2)),
    call("sgn", C(0)),
]


@pytest.mark.parametrize("c", CALLS, ids=repr)
def test_call(c: Call) -> None:
    check(c)


def test_convention() -> None:
    """The gradient of |z|**2 at 1 + 2i is 2 + 4i."""
    z = compat.tensor([1 + 2j], requires_grad=True)
    (z * z.conj()).real.sum().backward()
    assert z.grad.tolist() == [2 + 4j]
    w = compat.tensor([0j], requires_grad=True)
    (w.abs() + w.angle()).sum().backward()
    assert w.grad.tolist() == [0j]


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_given_gradient_is_that_of_a_product(create_graph: bool) -> None:
    """Of ``Re(sum(conj(g) y))``, whose gradient by y is g."""
    z = compat.tensor([1 + 2j, -0.5 + 1j, 3j], requires_grad=True)
    c = compat.tensor([2 - 1j, 1j, 0.5 + 0.5j])
    g = compat.tensor([0.5 + 3j, -2 + 1j, 1 - 4j])
    for f in (lambda z: c * z, lambda z: c * z * z, lambda z: c * z.conj(), compat.exp):
        (expected,) = compat.autograd.grad((g.conj() * f(z)).real.sum(), z)
        (found,) = compat.autograd.grad(f(z), z, g, create_graph=create_graph)
        compat.testing.assert_close(found.detach(), expected)
        z.grad = None
        f(z).backward(g)
        compat.testing.assert_close(z.grad, expected)


def test_node() -> None:
    z = compat.tensor([1 + 2j], requires_grad=True)
    x = compat.tensor([1.0, 2.0], requires_grad=True)
    names = {
        "SelectBackward0": z.real,
        "ConjBackward0": z.conj(),
        "ConjPhysicalBackward0": z.conj_physical(),
        "AngleBackward0": z.angle(),
        "ViewAsRealBackward0": compat.view_as_real(z),
        "ViewAsComplexBackward0": compat.view_as_complex(x),
        "ComplexBackward0": compat.complex(x, x),
        "PolarBackward0": compat.polar(x, x),
        "SgnBackward0": z.sgn(),
        "AbsBackward0": z.abs(),
    }
    for name, y in names.items():
        assert y.grad_fn.name() == name
    assert compat.angle(x).grad_fn.name() == "AngleBackward0"


def test_real_numbers_are_their_own_parts() -> None:
    x = compat.tensor([1.0])
    assert x.real is x and x.conj() is x and x.resolve_conj() is x and x.resolve_neg() is x
    assert not x.is_conj() and compat.tensor([1j]).conj().is_conj() and not x.is_neg()
    with pytest.raises(RuntimeError, match="imag is not implemented for tensors with non-complex"):
        _ = x.imag


def test_parts_are_set() -> None:
    z = compat.tensor([1 + 2j, 3 + 4j])
    z.real = compat.tensor([5.0, 6.0])
    z.imag = 0
    assert z.tolist() == [5 + 0j, 6 + 0j] and z._version == 2
    x = compat.tensor([1.0, 2.0])
    x.real = compat.tensor([3.0, 4.0])
    assert x.tolist() == [3.0, 4.0]
    a = compat.tensor([1.0, 1.0], requires_grad=True)
    w = z * 1
    w.imag = a * 3
    w.imag.sum().backward()
    assert a.grad.tolist() == [3.0, 3.0]


VALUES: list[Callable[[Any], Any]] = [
    lambda m: m.complex(m.tensor([1.0]), m.tensor([1.0], dtype=m.float64)),
    lambda m: m.complex(m.tensor([1]), m.tensor([1])),
    lambda m: m.complex(m.tensor([1.0]), 2.0),
    lambda m: m.complex(m.tensor([1.0]), m.tensor([float("inf")])),
    lambda m: m.polar(m.tensor([1]), m.tensor([1])),
    lambda m: m.polar(m.tensor([1.0]), m.tensor([1.0], dtype=m.float64)),
    lambda m: m.view_as_complex(m.tensor([1.0, 2.0, 3.0])),
    lambda m: m.view_as_complex(m.tensor([1, 2])),
    lambda m: m.view_as_complex(m.tensor(1.0)),
    lambda m: m.view_as_real(m.tensor([1.0])),
    lambda m: m.angle(m.tensor([-1, 0, 1])),
    lambda m: m.angle(m.tensor([-1.0, -0.0, float("nan")])),
    lambda m: m.angle(m.tensor([float("inf"), -float("inf")], dtype=m.float64)),
    lambda m: m.angle(m.tensor([True])),
    lambda m: m.imag(m.tensor([1.0])),
    lambda m: m.real(m.tensor([1 + 2j])),
    lambda m: m.conj(m.tensor([1])),
    lambda m: m.conj(m.tensor([[1 + 2j]])),
    lambda m: m.is_complex(m.tensor([1j])),
    lambda m: m.is_floating_point(m.tensor([1j])),
    lambda m: m.is_conj(m.tensor([1.0])),
    lambda m: m.is_neg(m.tensor([1.0])),
    lambda m: m.tensor([1 + 2j]) * m.tensor([2.0]),
    lambda m: m.conj_physical(m.tensor([1j]), out=m.tensor([0j])),
]


@needs_torch
@pytest.mark.parametrize("index", range(len(VALUES)))
def test_value(index: int) -> None:
    agree(VALUES[index])


def test_halves_have_no_complex_numbers() -> None:
    """The messages list them, as PyTorch's do, and say what to do."""
    x = compat.ones(2, dtype=compat.float16)
    for f in (compat.view_as_complex, lambda x: compat.complex(x, x), lambda x: compat.polar(x, x)):
        with pytest.raises(RuntimeError, match=r"no complex numbers of halves: .* x.float\(\)"):
            f(x)
        with pytest.raises(RuntimeError, match=r"but got (a tensor of scalar type: )?[^.]*$"):
            f(x.int())
