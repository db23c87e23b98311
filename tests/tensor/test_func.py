"""`compat.func`: transforms of tensor code, alone, nested, with a tape outside or inside."""

from __future__ import annotations

import importlib
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import compat
import funcgrad

# PyTorch warns of its own parts.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")

ROWS = np.array([[0.3, -0.7], [1.1, 0.4], [-0.2, 0.9]])


@pytest.fixture(params=["compat", "torch"])
def torch(request: pytest.FixtureRequest) -> Any:
    """The module: ours, and PyTorch where it is installed."""
    return compat if request.param == "compat" else pytest.importorskip("torch")


def close(a: Any, b: Any) -> None:
    a, b = (x.detach().numpy() if hasattr(x, "detach") else np.asarray(x) for x in (a, b))
    assert a.shape == b.shape
    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def energy(torch: Any) -> Callable[[Any], Any]:
    return lambda x: (torch.sin(x) * x * x).sum() + torch.exp(x).sum()


def gradient(x: np.ndarray) -> np.ndarray:
    return np.cos(x) * x * x + 2 * x * np.sin(x) + np.exp(x)


def curvature(x: np.ndarray) -> np.ndarray:
    return -np.sin(x) * x * x + 4 * x * np.cos(x) + 2 * np.sin(x) + np.exp(x)


def test_every_transform(torch: Any) -> None:
    f, x = energy(torch), torch.from_numpy(ROWS[0].copy())
    g, h = gradient(ROWS[0]), np.diag(curvature(ROWS[0]))
    v = torch.from_numpy(np.array([1.0, -2.0]))
    close(torch.func.grad(f)(x), g)
    grads, value = torch.func.grad_and_value(f)(x)
    close(grads, g)
    close(value, f(x))
    close(torch.func.jacrev(f)(x), g)
    close(torch.func.jacfwd(f)(x), g)
    close(torch.func.hessian(f)(x), h)
    close(torch.func.jvp(f, (x,), (v,))[1], g @ v.numpy())
    out, pull = torch.func.vjp(f, x)
    close(pull(torch.ones_like(out))[0], g)
    close(torch.func.linearize(f, x)[1](v), g @ v.numpy())
    close(torch.func.vmap(f)(torch.from_numpy(ROWS)), [f(torch.from_numpy(r)) for r in ROWS])


def test_nesting(torch: Any) -> None:
    f, F = energy(torch), torch.func
    rows = torch.from_numpy(ROWS)
    close(F.vmap(F.grad(f))(rows), gradient(ROWS))
    close(F.vmap(F.hessian(f))(rows), [np.diag(curvature(r)) for r in ROWS])
    close(
        F.grad(lambda x: (F.grad(f)(x) ** 2).sum())(rows[0]),
        2 * gradient(ROWS[0]) * curvature(ROWS[0]),
    )
    close(F.jacfwd(F.jacfwd(f))(rows[0]), np.diag(curvature(ROWS[0])))
    close(F.jvp(F.grad(f), (rows[0],), (rows[1],))[1], curvature(ROWS[0]) * ROWS[1])


def test_argnums_aux_and_trees(torch: Any) -> None:
    x = torch.from_numpy(ROWS[0].copy())

    def f(p: Any, scale: Any) -> Any:
        out = (p["a"] * p["b"]).sum() * scale
        return out, out * 2

    grads, aux = torch.func.grad(f, argnums=(0, 1), has_aux=True)({"a": x, "b": x * x}, x[0])
    close(grads[0]["a"], ROWS[0] ** 2 * ROWS[0][0])
    close(grads[1], (ROWS[0] ** 3).sum())
    close(aux, 2 * (ROWS[0] ** 3).sum() * ROWS[0][0])
    with pytest.raises(RuntimeError, match=r"(?i)to return a scalar tensor"):
        torch.func.grad(lambda x: x * 2)(x)


def test_dictionaries_keep_their_order(torch: Any) -> None:
    F, names = torch.func, ["w", "b", "a"]
    p = {name: torch.tensor(1.0) for name in names}
    rows = {name: torch.ones(2) for name in names}

    def f(q: Any) -> Any:
        return q["w"] * q["b"] * q["a"]

    def some(q: Any) -> Any:
        return {"z": q["w"], "c": q["a"]}

    for g in (F.grad, F.jacrev, F.jacfwd, F.hessian):
        assert list(g(f)(p)) == names
    assert list(F.hessian(f)(p)["b"]) == names
    assert list(F.jacrev(f, chunk_size=1)(p)) == names
    assert list(F.vjp(f, p)[1](torch.tensor(1.0))[0]) == names
    for found in (F.vmap(some)(rows), *F.jvp(some, (p,), (p,)), F.vjp(some, p)[0]):
        assert list(found) == ["z", "c"]


def test_the_tape_outside_goes_on(torch: Any) -> None:
    w = torch.from_numpy(np.array([3.0, 4.0])).requires_grad_()
    x = torch.from_numpy(ROWS[0].copy()).requires_grad_()
    g = torch.func.grad(lambda x: (w * x * x).sum())(x)
    assert g.requires_grad
    (g * g).sum().backward()
    close(w.grad, 8 * w.detach().numpy() * ROWS[0] ** 2)
    close(x.grad, 8 * w.detach().numpy() ** 2 * ROWS[0])
    w.grad = None
    torch.func.vmap(lambda r: (w * r).sum())(torch.from_numpy(ROWS)).sum().backward()
    close(w.grad, ROWS.sum(0))


def test_no_grad_and_detach_inside(torch: Any) -> None:
    x = torch.from_numpy(ROWS[0].copy())

    def f(x: Any) -> Any:
        with torch.no_grad():
            c = (x * x).sum()
        return (x * x).sum() * c

    close(torch.func.grad(f)(x), 2 * ROWS[0] * (ROWS[0] ** 2).sum())
    close(torch.func.grad(lambda x: (x * x.detach()).sum())(x), ROWS[0])
    with torch.no_grad():
        close(torch.func.grad(energy(torch))(x), gradient(ROWS[0]))


def added(torch: Any, y: Any, x: Any) -> Any:
    y.add_(1.0)


def copied(torch: Any, y: Any, x: Any) -> Any:
    y.copy_(x**2)


def written_in_parts(torch: Any, y: Any, x: Any) -> Any:
    y[0] = 7
    v = y[1]
    v.mul_(3)
    y[0].add_(v)
    y[1:].copy_(x[:-1])


def masked(torch: Any, y: Any, x: Any) -> Any:
    y.masked_fill_(y > 1, -float("inf"))
    y.clamp_(min=-2.0)


@pytest.mark.parametrize("write", [added, copied, written_in_parts, masked])
def test_writes_in_no_grad_inside(torch: Any, write: Any) -> None:
    """The numbers change, the derivative is that of what was there: as on the tape."""

    def f(x: Any) -> Any:
        y = x * 2
        with torch.no_grad():
            write(torch, y, x)
        y.mul_(x)
        return (y * y).sum()

    x = torch.from_numpy(ROWS[0].copy()).requires_grad_()
    out = f(x)
    out.backward()
    found, value = torch.func.grad_and_value(f)(x.detach())
    close(found, x.grad.numpy())
    assert value.item() == out.item()
    mapped = torch.func.vmap(torch.func.grad(f))(torch.from_numpy(ROWS.copy()))
    close(mapped[0], x.grad.numpy())


REARRANGED: list[Any] = [
    lambda y: y.t().reshape(-1),
    lambda y: y.t().flatten(),
    lambda y: y[:, :1].reshape(-1),
    lambda y: y[0].expand(2, 2).reshape(-1),
    lambda y: y.reshape(-1),
    lambda y: y.t()[None].reshape(2, 2),
]


@pytest.mark.parametrize("part", REARRANGED, ids=range(len(REARRANGED)))
def test_a_reshape_shares_memory_where_it_would_outside(torch: Any, part: Any) -> None:
    """Of an array that does not lie in memory in that order it is a copy, which later writes spare."""

    def f(x: Any) -> Any:
        y = x * 1
        found = part(y)
        y.mul_(10)
        return (found * found).sum()

    array = np.array([[1.0, 2.0], [3.0, 4.0]])
    x = torch.from_numpy(array).requires_grad_()
    out = f(x)
    if out.requires_grad:
        out.backward()
    found, value = torch.func.grad_and_value(f)(x.detach())
    assert value.item() == out.item()
    close(found, array * 0 if x.grad is None else x.grad.numpy())
    close(torch.func.vmap(f)(torch.from_numpy(array[None])), out.detach().numpy()[None])


def test_detach_of_an_expanded_part_that_was_written(torch: Any) -> None:
    def f(x: Any) -> Any:
        y = x * 1
        part = y[:1].expand(2)
        y.mul_(10)
        return (part.detach() * x).sum()

    close(torch.func.grad(f)(torch.from_numpy(ROWS[0].copy())), np.full(2, 10 * ROWS[0, 0]))


def test_views_made_in_no_grad_inside(torch: Any) -> None:
    """They share the memory, and are constants wherever they are read."""

    def f(x: Any) -> Any:
        y = x * 2
        with torch.no_grad():
            y[1:].mul_(3)
            v = y[0]
            w = y[1:]
        return (w * y[1:]).sum() + v * y.sum()

    x = torch.from_numpy(ROWS[0].copy()).requires_grad_()
    y = (x * 2).detach()
    with torch.no_grad():
        y[1:] *= 3
    expected = 2 * np.concatenate([[0.0], y[1:].numpy()]) + 2 * y[0].item()
    close(torch.func.grad(f)(x.detach()), expected)

    def g(x: Any) -> Any:
        with torch.no_grad():
            v = x[0]
        return v

    if torch is compat:  # PyTorch wants a result with a derivative
        assert torch.func.grad(g)(x.detach()).tolist() == [0.0] * len(y)


def test_a_transform_in_no_grad_inside_a_transform(torch: Any) -> None:
    """What it returns is a constant for the outer one."""

    def f(x: Any) -> Any:
        with torch.no_grad():
            g, value = torch.func.grad_and_value(lambda x: (x**3).sum())(x)
            y, pull = torch.func.vjp(lambda x: x * x, x)
            (v,) = pull(torch.ones_like(x))
        return ((g + v + y + value) * x).sum()

    x = ROWS[0]
    expected = 3 * x**2 + 2 * x + x**2 + (x**3).sum()
    close(torch.func.grad(f)(torch.from_numpy(x.copy())), expected)


def test_writes_inside(torch: Any) -> None:
    def f(x: Any) -> Any:
        y = x * 1
        y *= x
        y.add_(1)
        return (y * y).sum()

    expected = 4 * ROWS * (ROWS**2 + 1)
    close(torch.func.vmap(torch.func.grad(f))(torch.from_numpy(ROWS)), expected)


# ---------------------------------------------------------------- random numbers


DRAWS: dict[str, Callable[[Any, Any], Any]] = {
    "rand": lambda torch, r: torch.rand(2),
    "randn": lambda torch, r: torch.randn(2, 3),
    "randint": lambda torch, r: torch.randint(0, 10**6, (2,)),
    "randperm": lambda torch, r: torch.randperm(50),
    "rand_like": lambda torch, r: torch.rand_like(r),
    "normal": lambda torch, r: torch.normal(0.0, 1.0, (4,)),
    "uniform_": lambda torch, r: (r * 1).uniform_(),
    "exponential_": lambda torch, r: (r * 1).exponential_(),
    "bernoulli_": lambda torch, r: torch.stack([r] * 20).bernoulli_(0.5),
    "dropout": lambda torch, r: torch.nn.functional.dropout(torch.ones(40)),
    "Dropout": lambda torch, r: torch.nn.Dropout(0.5)(torch.stack([r] * 20)),
    "in grad": lambda torch, r: torch.func.grad(lambda a: (a * torch.rand(2)).sum())(r),
}


@pytest.mark.parametrize("name", DRAWS)
def test_randomness_of_vmap(torch: Any, name: str) -> None:
    rows = torch.ones(3, 2)

    def mapped(**options: Any) -> Any:
        torch.manual_seed(0)
        return torch.func.vmap(lambda r: DRAWS[name](torch, r), **options)(rows)

    for options in ({}, {"randomness": "error"}):
        with pytest.raises(RuntimeError, match="called random operation while in randomness error"):
            mapped(**options)
    for options in ({}, {"chunk_size": 2}):
        a, b, c = mapped(randomness="same", **options)
        assert torch.equal(a, b)
        assert torch.equal(a, c)
        a, b, c = mapped(randomness="different", **options)
        assert not torch.equal(a, b)
        assert not torch.equal(b, c)
    if torch is compat:
        torch.manual_seed(0)
        alone = [DRAWS[name](torch, r) for r in rows]
        close(mapped(randomness="different"), np.stack([x.numpy() for x in alone]))


PARAMETERS: dict[str, Callable[[Any, Any], Any]] = {
    "bernoulli": lambda torch, r: torch.bernoulli(r / 2),
    "normal": lambda torch, r: torch.normal(r, r),
    "multinomial": lambda torch, r: torch.multinomial(r, 20, replacement=True),
    "poisson": lambda torch, r: torch.poisson(r * 50),
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_random_numbers_with_parameters_under_vmap(torch: Any, name: str) -> None:
    f = lambda r: PARAMETERS[name](torch, r)  # noqa: E731
    rows = torch.ones(3, 20)
    a, b, c = torch.func.vmap(f, randomness="different")(rows)
    assert not torch.equal(a, b)
    assert not torch.equal(b, c)
    with pytest.raises(RuntimeError, match="does not currently support same randomness"):
        torch.func.vmap(f, randomness="same")(rows)
    shared = torch.func.vmap(lambda r, p: f(p), (0, None), randomness="same")(rows, rows[0])
    assert torch.equal(shared[0], shared[1])
    with pytest.raises(RuntimeError, match="randomness error mode"):
        torch.func.vmap(f)(rows)


@pytest.mark.parametrize(("inner", "outer"), [("same", "different"), ("different", "same")])
def test_randomness_of_nested_vmaps(torch: Any, inner: str, outer: str) -> None:
    vmap = torch.func.vmap
    nested = vmap(vmap(lambda r: torch.rand(()), randomness=inner), randomness=outer)
    found = nested(torch.ones(3, 2))
    found = found if inner == "same" else found.T
    assert torch.equal(found, found[:, :1].expand(found.shape))
    assert len(set(found[:, 0].tolist())) == len(found)
    with pytest.raises(RuntimeError, match="randomness error mode"):
        vmap(vmap(lambda r: torch.rand(()), randomness=inner))(torch.ones(3, 2))


def test_randomness_elsewhere(torch: Any) -> None:
    x, F = torch.ones(2), torch.func
    noisy = lambda r: r * torch.rand(2)  # noqa: E731
    with pytest.raises(RuntimeError, match="Only allowed values for randomness are"):
        F.vmap(noisy, randomness="none")
    with pytest.raises(RuntimeError, match="randomness error mode"):
        F.jacfwd(noisy)(x)
    with pytest.raises(RuntimeError, match="randomness error mode"):
        F.hessian(lambda r: noisy(r * r).sum())(x)
    assert F.jacfwd(noisy, randomness="same")(x).shape == (2, 2)
    assert F.jacrev(noisy)(x).shape == (2, 2)
    kept = F.vmap(lambda r: torch.nn.functional.dropout(r, training=False))(torch.ones(3, 2))
    assert torch.equal(kept, torch.ones(3, 2))
    if torch is compat:
        with pytest.raises(NotImplementedError, match="randomness='same'"):
            F.jacfwd(noisy, randomness="different")


# ---------------------------------------------------------------- options


def test_keyword_arguments_of_vmap_are_the_same_for_all(torch: Any) -> None:
    rows, w = torch.from_numpy(ROWS), torch.from_numpy(ROWS[0].copy()).requires_grad_()
    found = torch.func.vmap(lambda r, *, w, k: (r * w).sum() * k)(rows, w=w, k=2)
    close(found, 2 * ROWS @ ROWS[0])
    found.sum().backward()
    close(w.grad, 2 * ROWS.sum(0))
    with pytest.raises(ValueError, match="got no inputs"):
        torch.func.vmap(lambda r: r)(r=rows)


@pytest.mark.parametrize("chunk_size", [1, 2, 3, 4, 100])
def test_chunks_of_jacrev(torch: Any, chunk_size: int) -> None:
    x = torch.from_numpy(ROWS.copy())

    def f(p: Any, scale: Any) -> Any:
        return {"b": (p["w"] ** 2 * scale).sum(0), "a": p["w"].sum() * scale}, p["w"] + 1

    args = ({"w": x}, x[0, 0])
    for argnums in (0, (0, 1), (1,)):
        expected, _ = torch.func.jacrev(f, argnums, has_aux=True)(*args)
        found, aux = torch.func.jacrev(f, argnums, has_aux=True, chunk_size=chunk_size)(*args)
        close(aux, ROWS + 1)
        for name in ("a", "b"):
            first, second = found[name], expected[name]
            pairs = [(first, second)] if argnums == 0 else list(zip(first, second, strict=True))
            for a, b in pairs:
                a, b = (y["w"] if isinstance(y, dict) else y for y in (a, b))
                close(a, b)


@pytest.mark.parametrize("chunk_size", [0, -1])
def test_chunks_have_a_size(torch: Any, chunk_size: int) -> None:
    for transform in (torch.func.jacrev, torch.func.vmap):
        with pytest.raises(ValueError, match=r"chunk_size.* should be .*greater than 0"):
            transform(torch.sin, chunk_size=chunk_size)


def test_numbers_inside_transforms(torch: Any) -> None:
    x = torch.tensor(2.0)
    assert torch.func.grad(lambda a: a * a if a > 0 else a)(x).item() == 4.0
    assert torch.func.grad(lambda a: a * a.item())(x).item() == 2.0
    assert torch.func.grad(lambda a: a * float(a))(x).item() == 2.0


# ---------------------------------------------------------------- errors


ERRORS = [
    ("vmap(lambda a: a.sum().item())(x)", "It looks like you're calling .item()"),
    ("vmap(lambda a: float(a.sum()))(x)", "It looks like you're calling .item()"),
    ("vmap(lambda a: a if a.sum() > 0 else -a)(x)", "data-dependent control flow"),
    ("vmap(lambda a: a.tolist())(x)", ""),
    ("vmap(lambda a: a.nonzero())(x)", ""),
    ("vmap(lambda a: a[a > 0])(x)", ""),
    ("vmap(torch.sin, in_dims=5)(x)", "Got in_dim=5 for some input"),
    ("vmap(torch.sin, in_dims=(0, 0))(x)", "in_dims is not compatible with the structure"),
    ("vmap(torch.sin, in_dims='a')(x)", "expected `in_dims` to be int or a"),
    ("vmap(torch.sin, in_dims=None)(x)", "expected `in_dims` to be int or a"),
    ("vmap(torch.sin, in_dims=(1.5,))(x)", "in_dim must be either an integer dimension or None"),
    ("vmap(torch.sin, in_dims=(None,))(x)", "Expected at least one Tensor to vmap over"),
    ("vmap(torch.add)(x, 2)", "We cannot vmap over non-Tensor arguments"),
    ("vmap(torch.add, in_dims=(0, 1))(x, x)", "same size in the mapped dimension"),
    ("vmap(torch.sin)(torch.tensor(1.0))", "Tensor of dimensionality 0"),
    ("vmap(lambda a: 3)(x)", "must only return Tensors"),
    ("vmap(lambda a: 'r')(x)", "must only return Tensors"),
    ("vmap(torch.sin, out_dims=4)(x)", "Dimension out of range"),
    ("vmap(torch.sin, out_dims=None)(x)", ""),
    ("vmap(torch.sin, out_dims='a')(x)", "`out_dims` must be an int, None"),
    ("vmap(torch.sin, out_dims=(0, 0))(x)", "out_dims is not compatible with the structure"),
    ("grad(torch.sin)(torch.tensor(2))", "floating point dtype can require gradients"),
    ("grad(torch.sin)(2.0)", "Thing passed to transform API must be Tensor"),
    ("grad(torch.sin)('a')", "Thing passed to transform API must be Tensor"),
    ("grad(torch.sin)(x)", "to return a scalar Tensor, got tensor with 2 dims"),
    ("grad(lambda a: 3)(x)", "to return a Tensor, got"),
    ("grad(lambda a: (a * 1j).sum())(x)", "can be implicitly created only for real scalar outputs"),
    ("grad(torch.sum, argnums=3)(x)", "Got argnum=3, but only 1 positional inputs"),
    ("grad(torch.sum, argnums='a')(x)", "argnums must be int or Tuple"),
    ("grad(torch.sum, argnums=(0, 0))(x)", "argnums elements must be unique"),
    ("grad(torch.sum, has_aux=True)(x)", "should be a tuple: (output, aux)"),
    ("jacrev(torch.sin)(torch.tensor([2]))", "floating point dtype can require gradients"),
    ("jacfwd(torch.sin)(torch.tensor([2]))", "Expected primal to be floating point or complex"),
    ("jacrev(torch.sin)(torch.tensor([1j]))", "Expected all inputs to be real"),
    ("jacfwd(torch.sin)(torch.tensor([1j]))", "Expected all inputs to be real"),
    ("jvp(torch.sin, (x,), (x[0],))", "forward gradient that has a different size"),
    ("jvp(torch.sin, (x,), (x, x))", "to have the same python structure"),
    ("jvp(torch.sin, [x], [x])", "Expected primals to be a tuple"),
    ("jvp(torch.sin, (2.0,), (x,))", "Expected primals to only contain Tensors"),
    ("jvp(torch.sin, (x,), (2.0,))", "Expected tangents to only contain Tensors"),
    ("jvp(torch.sin, (torch.tensor(2),), (x,))", "Expected primal to be floating point"),
    ("vjp(torch.sin, torch.tensor(2))", "floating point dtype can require gradients"),
    ("vjp(torch.sin, x)[1](x[0])", "Mismatch in shape: grad_output[0] has a shape of"),
    ("linearize(torch.sin, x)[1](x[0])", ""),
    ("linearize(torch.sin, x)[1](x, x)", ""),
]


@pytest.mark.parametrize(("expression", "words"), ERRORS)
def test_errors_are_pytorchs(torch: Any, expression: str, words: str) -> None:
    """The type is PyTorch's, and nothing in the message is of the layer below."""
    scope = {"torch": torch, "x": torch.ones(3, 2)}
    scope |= {name: getattr(torch.func, name) for name in compat.func.__all__}
    with pytest.raises(Exception, match=re.escape(words)) as caught:
        eval(expression, scope)
    error = caught.value
    expected = ValueError if "vmap" in expression else RuntimeError
    if any(w in str(error) for w in ("transform API", "Expected primal to be floating")):
        expected = ValueError
    if "Dimension out of range" in words:
        expected = IndexError
    if any(w in expression for w in ("item()", "float(", "if a", "tolist", "nonzero", "a > 0")):
        expected = RuntimeError
    assert type(error) is expected
    if torch is compat:
        assert not re.search(r"Tracer|in_axes|out_axes|fnp|astype|[fic]\d\d\*?\[", str(error))
        assert error.__cause__ is None


def test_numbers_that_leave_a_transform() -> None:
    words = r"would take the numbers out of a tensor of torch\.|calling .numpy\(\) on a Tensor"
    for f in (np.asarray, lambda a: compat.tensor([a.sum(), 1.0])):
        with pytest.raises(RuntimeError, match=words):
            compat.func.vmap(f)(compat.ones(3, 2))


def test_errors_keep_the_users_line() -> None:
    def loss(a: Any) -> Any:
        return a[a > 0].sum()  # this line

    with pytest.raises(RuntimeError) as caught:
        compat.func.vmap(loss)(compat.ones(3, 2))
    assert any("a[a > 0]" in str(entry.statement) for entry in caught.traceback)
    kept: list[Any] = []
    compat.func.grad(lambda a: (kept.append(a), a.sum())[1])(compat.ones(2))
    with pytest.raises(RuntimeError, match=r"test_func.py:\d+: kept\[0\] \* 2"):
        kept[0] * 2  # the value of a transform that has ended


# ---------------------------------------------------------------- beyond PyTorch


def test_backward_inside_every_transform() -> None:
    w = compat.from_numpy(np.array([3.0, 4.0])).requires_grad_()

    def per_example(row: Any) -> Any:
        (w * w * row).sum().backward()
        return w.grad

    found = compat.func.vmap(per_example)(compat.from_numpy(ROWS))
    close(found, 2 * w.detach().numpy() * ROWS)
    assert w.grad is None, "what code inside adds to .grad is not left behind"

    def slope(x: Any) -> Any:
        leaf = compat.ones(2, dtype=compat.float64, requires_grad=True)
        (leaf * x * x).sum().backward()
        return (leaf.grad * x).sum()

    close(compat.func.grad(slope)(compat.from_numpy(ROWS[0])), 3 * ROWS[0] ** 2)


def train(steps: int, rate: Any) -> Any:
    """Gradient descent with tensors; returns the last loss."""
    p = compat.tensor([1.0, -2.0], dtype=compat.float64, requires_grad=True)
    loss = None
    for _ in range(steps):
        p.grad = None
        loss = (p * p * p * p).sum()
        loss.backward()
        with compat.no_grad():
            p -= rate * p.grad
    return (p * p).sum()


@settings(deadline=None, max_examples=15)
@given(st.floats(0.001, 0.02), st.integers(1, 4))
def test_the_derivative_of_training(rate: float, steps: int) -> None:
    """Through `backward()` and updates in place, by funcgrad's transforms; against differences."""

    def loss(r: Any) -> Any:
        return train(steps, compat.tensor(r, dtype=compat.float64))

    h = 1e-6
    expected = float(loss(rate + h) - loss(rate - h)) / (2 * h)
    assert float(funcgrad.grad(loss)(rate)) == pytest.approx(expected, rel=1e-5)
    assert funcgrad.jvp(loss, (rate,), (1.0,))[1] == pytest.approx(expected, rel=1e-5)


def test_programs_of_tensor_code_can_be_read() -> None:
    jaxpr = funcgrad.make_jaxpr(lambda a: (compat.tensor(a) * 2).sum())(np.ones(2))
    assert "multiply a 2.0" in str(jaxpr)


def test_the_example_of_the_module(torch: Any) -> None:
    """A check that the fixture's PyTorch is PyTorch."""
    assert torch is compat or torch is importlib.import_module("torch")


def test_functional_call_and_stacked_modules(torch: Any) -> None:
    models = [torch.nn.Linear(2, 3).double() for _ in range(4)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        params, buffers = torch.func.stack_module_state(models)
    assert buffers == {}
    x = torch.from_numpy(ROWS)

    def one(p: Any) -> Any:
        return torch.func.functional_call(models[0], p, (x,))

    found = torch.func.vmap(one)(params)
    close(found, np.stack([m(x).detach().numpy() for m in models]))
    grads = torch.func.grad(lambda p: (one(p) ** 2).sum())(dict(models[0].named_parameters()))
    models[0].zero_grad()
    (models[0](x) ** 2).sum().backward()
    close(grads["weight"], models[0].weight.grad)


LEAVING: dict[str, Any] = {
    "numpy": lambda x: x.numpy(),
    "asarray": np.asarray,
    "array": np.array,
    "view": lambda x: x[:].numpy(),
    "function of it": lambda x: (2 * x).numpy(),
}


@pytest.mark.parametrize("name", LEAVING)
@pytest.mark.parametrize("transform", ["grad", "jacrev", "jacfwd", "hessian"])
def test_numbers_do_not_leave_what_is_differentiated(name: str, transform: str) -> None:
    """They would be constants, silently."""

    def f(x: Any) -> Any:
        return (x * compat.tensor(LEAVING[name](x))).sum()

    x = compat.tensor([1.0, 2.0])
    with pytest.raises(RuntimeError, match=r"Use tensor\.detach\(\)\.numpy\(\)"):
        getattr(compat.func, transform)(f)(x)
    cut = getattr(compat.func, transform)(lambda x: f(x.detach()) + x.sum())(x)
    assert cut.sum().item() == (0.0 if transform == "hessian" else 2.0)


def test_numbers_leave_that_are_not_differentiated() -> None:
    x = compat.tensor([1.0, 3.0])
    assert compat.func.grad(lambda x: x[x.argmax().numpy()])(x).tolist() == [0.0, 1.0]
    w = compat.ones(2)
    assert compat.func.grad(lambda x: (x * compat.tensor(w.numpy())).sum())(x).tolist() == [
        1.0,
        1.0,
    ]


@pytest.mark.parametrize("name", ["grad", "grad_and_value", "vjp", "jacrev", "hessian"])
def test_reverse_mode_refuses_hooks_on_what_is_saved(torch: Any, name: str) -> None:
    """They would not be called."""
    hooks = torch.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x)

    def inside(x: Any) -> Any:
        with hooks:
            return x.exp().sum()

    def run(f: Any) -> Any:
        x = torch.ones(2)
        return torch.func.vjp(f, x) if name == "vjp" else getattr(torch.func, name)(f)(x)

    with pytest.raises(RuntimeError, match="don't yet support saved tensor hooks"):
        run(inside)
    with hooks, pytest.raises(RuntimeError, match="don't yet support saved tensor hooks"):
        run(lambda x: x.exp().sum())
    with pytest.raises(RuntimeError, match="don't yet support saved tensor hooks"):
        torch.func.vmap(lambda x: run(inside))(torch.ones(3))


def test_other_transforms_allow_hooks_on_what_is_saved(torch: Any) -> None:
    def f(x: Any) -> Any:
        with torch.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x):
            return x.exp()

    x = torch.zeros(2)
    assert torch.func.jvp(f, (x,), (x + 1,))[1].tolist() == [1.0, 1.0]
    assert torch.func.vmap(f)(x).tolist() == [1.0, 1.0]
