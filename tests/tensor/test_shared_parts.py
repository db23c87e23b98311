"""Parts of complex numbers, conjugates, windows and strided views share memory with their base.

Each row runs on `compat` and, where it is installed, on PyTorch. Random programs of such views and
writes are compared with PyTorch, and with the transforms of `compat.func`.

`PROGRAMS=20000 pytest tests/tensor/test_shared_parts.py` runs that many.
"""

from __future__ import annotations

import gc
import os
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from elementwise import needs_torch
from harness import torch as pytorch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import compat
from compat.autograd import mirrors

NUMBERS = np.array([[1 + 2j, 3 - 1j], [0.5j, -2 + 1j]])
REALS = np.arange(1.0, 7.0)


@pytest.fixture(params=["compat", "torch"])
def torch(request: pytest.FixtureRequest) -> Any:
    """The module: ours, and PyTorch where it is installed."""
    return compat if request.param == "compat" else pytest.importorskip("torch")


def plain(x: Any) -> Any:
    return x.detach().resolve_conj().resolve_neg().numpy()


# A base, a view of it as tensors show it, and as plain arrays compute it.
COMPLEX: dict[str, tuple[Callable[..., Any], Callable[[Any], Any]]] = {
    "real": (lambda m, x: x.real, lambda z: z.real),
    "imag": (lambda m, x: x.imag, lambda z: z.imag),
    "view_as_real": (lambda m, x: m.view_as_real(x), lambda z: np.stack([z.real, z.imag], -1)),
    "conj": (lambda m, x: x.conj(), np.conj),
    "mH": (lambda m, x: x.mH, lambda z: z.conj().T),
    "conj of a part": (lambda m, x: x[1].conj(), lambda z: z[1].conj()),
    "part of a conj": (lambda m, x: x.conj()[:, 1], lambda z: z.conj()[:, 1]),
    "imag of a conj": (lambda m, x: x.conj().imag, lambda z: z.conj().imag),
    "conj twice": (lambda m, x: x.conj().conj(), lambda z: z),
}
REAL: dict[str, tuple[Callable[..., Any], Callable[[Any], Any]]] = {
    "view_as_complex": (
        lambda m, x: m.view_as_complex(x.view(3, 2)),
        lambda x: x[::2] + 1j * x[1::2],
    ),
    "windows": (
        lambda m, x: x.unfold(0, 3, 1),
        lambda x: np.stack([x[i : i + 3] for i in range(4)]),
    ),
    "windows apart": (lambda m, x: x.unfold(0, 2, 3), lambda x: np.stack([x[:2], x[3:5]])),
    "windows of columns": (
        lambda m, x: x.view(3, 2).unfold(0, 2, 1),
        lambda x: np.stack([x.reshape(3, 2)[i : i + 2].T for i in range(2)]),
    ),
    "as_strided": (lambda m, x: x.as_strided((2, 2), (3, 1), 1), lambda x: x[[[1, 2], [4, 5]]]),
    "as_strided, repeated": (
        lambda m, x: x.as_strided((2, 3), (0, 2)),
        lambda x: np.stack([x[::2], x[::2]]),
    ),
}
ALL = [(NUMBERS, *row) for row in COMPLEX.values()] + [(REALS, *row) for row in REAL.values()]
NAMES = [*COMPLEX, *REAL]
OVERLAPPING = ("windows", "windows of columns", "as_strided, repeated")
APART = [(row, name) for row, name in zip(ALL, NAMES, strict=True) if name not in OVERLAPPING]


@pytest.mark.parametrize(("array", "show", "expected"), ALL, ids=NAMES)
def test_a_write_into_the_base_is_seen(torch: Any, array: Any, show: Any, expected: Any) -> None:
    x = torch.tensor(array, requires_grad=True)
    y = x * 1
    view = show(torch, y)
    assert view._is_view() and view._base is y
    y.mul_(3)
    assert view._version == y._version == 1
    np.testing.assert_allclose(plain(view), expected(3 * array))
    weights = torch.tensor(np.cos(np.arange(view.numel())).reshape(tuple(view.shape)))
    total = (view * weights).sum()
    (total.real if total.is_complex() else total).backward()
    fresh = torch.tensor(array, requires_grad=True)
    total = (show(torch, fresh * 3) * weights).sum()
    (total.real if total.is_complex() else total).backward()
    np.testing.assert_allclose(plain(x.grad), plain(fresh.grad))


@pytest.mark.parametrize("row", APART, ids=[name for _, name in APART])
def test_a_write_into_the_view_reaches_the_base(torch: Any, row: Any) -> None:
    (array, show, expected), _ = row
    y = torch.tensor(array)
    view = show(torch, y)
    assert view.mul_(2).add_(1) is view
    assert y._version == 2
    np.testing.assert_allclose(plain(view), 2 * expected(array) + 1)
    np.testing.assert_allclose(expected(plain(y)), 2 * expected(array) + 1)
    kept = torch.tensor(array, requires_grad=True)
    v = torch.tensor(1.5, dtype=torch.float64, requires_grad=True)
    z = kept * 1
    show(torch, z).mul_(v)
    assert z.grad_fn.name().endswith("CopySlices")
    total = (z * z.conj()).sum()
    (total.real if total.is_complex() else total).backward()
    inside = expected(array)
    np.testing.assert_allclose(v.grad.item(), 2 * 1.5 * (inside * inside.conj()).real.sum())


@pytest.mark.parametrize("name", OVERLAPPING)
def test_windows_that_overlap_are_only_to_be_read(name: str) -> None:
    """PyTorch adds to an element as often as it is there, or not, depending on how it is laid out."""
    y = compat.tensor(REALS)
    view = REAL[name][0](compat, y)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        view.add_(1)

    def traced(x: Any) -> Any:
        REAL[name][0](compat, x * 1).add_(1)
        return x.sum()

    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        compat.func.grad(traced)(y)
    assert y.tolist() == REALS.tolist()


def test_saved_parts_are_checked(torch: Any) -> None:
    x = torch.tensor(NUMBERS, requires_grad=True)
    y = x * 1
    square = y * y
    y.imag.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        square.real.sum().backward()
    for part in (x.real, x.conj(), torch.view_as_real(x)):
        with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
            part.add_(1)
    with torch.no_grad():
        x.conj().mul_(1j)
    np.testing.assert_allclose(plain(x), -1j * NUMBERS)


def test_pairs_that_are_no_complex_numbers(torch: Any) -> None:
    x = torch.zeros(3, 4)
    for y, message in (
        (x[:, ::2], "last dimension with stride 1"),
        (x.view(-1)[1:9].view(4, 2), "storage_offset divisible by 2"),
        (x.view(-1)[:9].view(3, 3)[:, :2], "stride divisible by 2 for all but last"),
    ):
        with pytest.raises(RuntimeError, match=message):
            torch.view_as_complex(y)
    assert torch.view_as_complex(torch.zeros(0, 2)).shape == (0,)


def test_conjugates(torch: Any) -> None:
    z = torch.tensor(NUMBERS)
    c = z.conj()
    assert c.is_conj() and not c.conj().is_conj() and not z.is_conj() and not c.imag.is_conj()
    own = c.resolve_conj()
    assert own is not c and not own._is_view() and z.resolve_conj() is z
    part = c[0]
    del c
    z.copy_(z.conj())
    np.testing.assert_allclose(plain(part), NUMBERS[0])
    np.testing.assert_allclose(plain(own), NUMBERS.conj())
    z.data.mul_(2)
    np.testing.assert_allclose(plain(part), 2 * NUMBERS[0])
    part.fill_(1j)
    assert z[0].tolist() == [-1j, -1j]


def test_a_conjugate_of_what_an_optimizer_writes(torch: Any) -> None:
    p = torch.tensor(NUMBERS, requires_grad=True)
    with torch.no_grad():
        c = p.conj()
    p.grad = torch.ones_like(p)
    torch.optim.SGD([p], lr=0.5).step()
    with torch.no_grad():
        np.testing.assert_allclose(plain(c + 0), NUMBERS.conj() - 0.5)


def test_a_conjugate_of_a_gradient(torch: Any) -> None:
    x = torch.tensor(NUMBERS, requires_grad=True)
    (x * 1).real.sum().backward()
    c = x.grad.conj()
    (x * 1j).real.sum().backward()
    assert c.tolist() == x.grad.resolve_conj().conj().tolist() == [[1 + 1j] * 2] * 2


@pytest.mark.parametrize(
    ("f", "slope"),
    [
        (lambda t, w: w.clone() * w, 4.0),
        (lambda t, w: (w[None] * w).sum(), 4.0),
        (lambda t, w: w * w + w[...] * 3, 7.0),
        (lambda t, w: t.cat([w[None], w[None] * 2]).sum() + w + w[...] + w.view(1).sum(), 6.0),
    ],
)
def test_parts_of_what_has_no_axes(torch: Any, f: Any, slope: float) -> None:
    """Their sums are NumPy's numbers, into which one cannot write."""
    w = torch.tensor(2.0, requires_grad=True)
    f(torch, w).backward()
    assert w.grad.item() == slope
    x = torch.ones(3, requires_grad=True)
    f(torch, x.sum() - 1).backward()
    assert x.grad.tolist() == [slope] * 3


def test_mirrors_are_forgotten() -> None:
    gc.collect()
    before = len(mirrors.known)
    z = compat.tensor(NUMBERS)
    one, two = z.conj(), z.conj()[1]
    assert len(mirrors.known) == before + 1
    del one
    z.add_(1)
    assert two.tolist() == (NUMBERS[1].conj() + 1).tolist()
    del two
    assert len(mirrors.known) == before


def test_a_conjugate_of_what_compiled_code_writes(torch: Any) -> None:
    z = torch.tensor(NUMBERS)
    c = z.mH
    double = compat.compile(lambda: z.mul_(2)) if torch is compat else lambda: z.mul_(2)
    for k in range(1, 4):
        double()
        np.testing.assert_allclose(c.tolist(), 2**k * NUMBERS.conj().T)


# ---------------------------------------------------------------- random programs

VIEWS: list[Callable[..., Any]] = [
    lambda m, x, i, j: x.real,
    lambda m, x, i, j: x.imag,
    lambda m, x, i, j: x.conj(),
    lambda m, x, i, j: x.conj(),
    lambda m, x, i, j: m.view_as_real(x.resolve_conj()),
    lambda m, x, i, j: m.view_as_real(x),
    lambda m, x, i, j: m.view_as_complex(x),
    lambda m, x, i, j: m.view_as_complex(x),
    lambda m, x, i, j: x[j % x.shape[0]],
    lambda m, x, i, j: x[j % 2 :: 1 + i % 2],
    lambda m, x, i, j: x.transpose(0, -1),
    lambda m, x, i, j: x.view(-1),
    lambda m, x, i, j: x.reshape(-1),
    lambda m, x, i, j: x.unfold(i % x.dim(), 1 + j % 2, 1 + j % 2 + i % 2),
    lambda m, x, i, j: x.unfold(i % x.dim(), 2, 1).sum(),
    # Of views, PyTorch's drops the gradient of what they do not show.
    lambda m, x, i, j: x[...] if x._is_view() else x.as_strided((2, 2), (2, 1), j % 2),
    lambda m, x, i, j: x.diagonal(),
]


def _set(m: Any, x: Any, y: Any, j: int) -> None:
    x[...] = 0.5 + j


WRITES: list[Callable[..., Any]] = [
    lambda m, x, y, j: x.mul_(1.5),
    lambda m, x, y, j: x.add_(0.25 * j),
    lambda m, x, y, j: x.mul_(1.5 + 0.5j if x.is_complex() else 2),
    _set,
    lambda m, x, y, j: x.copy_(y),
    lambda m, x, y, j: x.mul_(y.clone()),
    lambda m, x, y, j: x.conj_physical_(),
    lambda m, x, y, j: x[0].fill_(1.0),
    lambda m, x, y, j: x.zero_(),
]
RAISED = (RuntimeError, IndexError, NotImplementedError, ZeroDivisionError)


def run(m: Any, x: Any, steps: list[Any]) -> tuple[list[Any], list[Any]]:
    """The tensors that a program makes of `x`, and its steps without the views that PyTorch refuses."""
    made, kept = [x * 1], []
    for step in steps:
        op, s, t, i, j = step
        x, y = made[s % len(made)], made[t % len(made)]
        try:
            if op % 3:
                made.append(VIEWS[op // 3 % len(VIEWS)](m, x, i, j))
            elif x.is_complex() or not y.is_complex():
                WRITES[op // 3 % len(WRITES)](m, x, y, j)
        except RAISED:
            if m is compat:
                raise
            assume(op % 3)  # not what may have been written in part
            continue
        kept.append(step)
    return made, kept


def total(m: Any, made: list[Any]) -> Any:
    out = 0
    for n, x in enumerate(made):
        weights = m.tensor(np.cos(np.arange(x.numel()) + n).reshape(tuple(x.shape)))
        y = x * weights
        out = out + (y.real.sum() + 0.7 * y.imag.sum() if y.is_complex() else y.sum())
    return out


def check(steps: list[Any], array: Any) -> None:
    theirs = pytorch.tensor(array, requires_grad=True)
    expected, steps = run(pytorch, theirs, steps)
    ours = compat.tensor(array, requires_grad=True)
    found, _ = run(compat, ours, steps)
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(plain(x), plain(y), rtol=1e-10, atol=1e-10)
        assert x._version == y._version and x._is_view() == y._is_view()
    (gradient,) = compat.autograd.grad(total(compat, found), ours)
    try:
        (wanted,) = pytorch.autograd.grad(total(pytorch, expected), theirs)
    except RuntimeError as error:  # here the old value is kept
        assert "modified by an inplace operation" in str(error)
    else:
        np.testing.assert_allclose(plain(gradient), plain(wanted), rtol=1e-9, atol=1e-9)

    def f(x: Any) -> Any:
        return total(compat, run(compat, x, steps)[0])

    x = ours.detach()
    batch = compat.stack([x, x * 0.5])
    for g in (compat.func.grad(f)(x), compat.func.vmap(compat.func.grad(f))(batch)[0]):
        np.testing.assert_allclose(plain(g), plain(gradient), rtol=1e-9, atol=1e-9)
    along = compat.func.jvp(f, (x,), (batch[1],))[1]
    expected_along = (gradient.conj() * batch[1]).sum()
    np.testing.assert_allclose(along.item(), expected_along.real.item(), rtol=1e-9, atol=1e-9)


small = st.integers(0, 9)
instructions = st.tuples(st.integers(0, 152), small, small, small, small)
PROGRAMS = int(os.environ.get("PROGRAMS", "150"))
SHAPES = st.sampled_from([(4,), (2, 4), (4, 2), (2, 2), (3, 2, 2)])


@needs_torch
@settings(max_examples=PROGRAMS, deadline=None)
@given(st.lists(instructions, max_size=8), SHAPES, st.booleans(), st.integers(0, 2))
def test_programs(steps: list[Any], shape: Any, is_complex: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    array = rng.normal(size=shape) + (1j * rng.normal(size=shape) if is_complex else 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(steps, array)
