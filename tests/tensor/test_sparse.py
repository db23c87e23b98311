"""Sparse tensors: what they give is what the dense tensor gives, gradients too, or an error."""

from __future__ import annotations

import copy
import inspect
import io
import pickle
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from outcomes import both, module

import compat
from compat.autograd import gradcheck, gradgradcheck

# PyTorch says that sparse tensors are unfinished.
pytestmark = pytest.mark.filterwarnings("ignore")
REFUSED = r"not offered for sparse tensors here; use x\.to_dense\(\)"


@both()
def torch(request: pytest.FixtureRequest) -> Iterator[Any]:
    yield module(request.param)


class Parts:
    """The parts of a sparse tensor, as arrays."""

    def __init__(
        self, seed: int, sizes: tuple[int, ...], n: int, dense: tuple[int, ...], dtype: str
    ):
        rng = np.random.default_rng(seed)
        n = n if all(sizes) else 0
        self.places = np.array([rng.integers(0, max(s, 1), n) for s in sizes], np.int64)
        self.values = rng.normal(size=(n, *dense)).round(2)
        self.size = (*sizes, *dense)
        self.dtype = dtype
        self.rng = rng

    def values_in(self, th: Any) -> Any:
        return th.tensor(self.values, dtype=getattr(th, self.dtype), requires_grad=True)

    def sparse(self, th: Any, values: Any) -> Any:
        return th.sparse_coo_tensor(th.tensor(self.places), values, self.size)

    def dense(self, values: Any) -> Any:
        """The same tensor by one function of dense tensors."""
        zeros = compat.zeros(self.size, dtype=values.dtype)
        return zeros.index_put(tuple(map(compat.tensor, self.places)), values, accumulate=True)

    def __repr__(self) -> str:
        return f"Parts({self.places.tolist()}, {self.values.tolist()}, {self.size}, {self.dtype})"


sides = st.integers(0, 4)


def parts(axes: st.SearchStrategy[int], inner: st.SearchStrategy[tuple[int, ...]]) -> Any:
    sizes = axes.flatmap(lambda n: st.tuples(*[sides] * n))
    dtypes = st.sampled_from(["float32", "float64"])
    return st.builds(Parts, st.integers(0, 999), sizes, st.integers(0, 7), inner, dtypes)


any_parts = parts(st.integers(1, 3), st.sampled_from([(), (), (2,), (0,), (2, 3)]))
matrices = parts(st.just(2), st.just(()))


def dense(x: Any) -> Any:
    return x.to_dense() if x.is_sparse else x


def results(f: Callable[..., Any], p: Parts, others: list[np.ndarray], world: Any) -> list[Any]:
    """``f(th, sparse, *others)`` and the gradients by the values and the others, as arrays."""
    values = p.values_in(world)
    given = [world.tensor(x, dtype=values.dtype, requires_grad=True) for x in others]
    y = dense(f(world, p.sparse(world, values), *given))
    weights = world.tensor(np.cos(np.arange(y.numel())).reshape(y.shape), dtype=y.dtype)
    (y * weights).sum().backward()
    grads = [values.grad, *(x.grad for x in given)]
    return [dense(x).detach().numpy() for x in (y, *(g for g in grads if g is not None))]


def assert_agree(found: list[Any], expected: list[Any]) -> None:
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        single = any(x.dtype == np.float32 for x in found)
        tolerance = 1e-4 if single else 1e-11
        np.testing.assert_allclose(a, b, tolerance, tolerance)


# ---------------------------------------------------------------- as the dense tensor, and as PyTorch

# name -> the function of a sparse tensor, and the same of the dense one.
ALIKE: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "dense": (lambda th, x: x.to_dense(), lambda x: x),
    "coalesced": (lambda th, x: x.coalesce(), lambda x: x),
    "times a number": (lambda th, x: 2 * x * -1.5 / 4 * th.tensor(3.0), lambda x: x * -2.25),
    "negative": (lambda th, x: -x, lambda x: -x),
    "all": (lambda th, x: x.sum(), lambda x: x.sum()),
    "first axis": (lambda th, x: th.sparse.sum(x, 0), lambda x: x.sum(0)),
    "last axis": (lambda th, x: th.sparse.sum(x, -1), lambda x: x.sum(-1)),
    "two axes": (lambda th, x: th.sparse.sum(x, (0, x.dim() - 1)), lambda x: x.sum((0, -1))),
    "sum of two": (lambda th, x: x + 2 * x, lambda x: 3 * x),
    "difference": (lambda th, x: 3 * x.coalesce() - x, lambda x: 2 * x),
    "double": (lambda th, x: x.double(), lambda x: x.double()),
    "clone": (lambda th, x: x.clone(), lambda x: x),
    "sine": (lambda th, x: x.sin(), lambda x: x.sin()),
    "square": (lambda th, x: x.coalesce() ** 2, lambda x: x**2),
}


@pytest.mark.parametrize("name", ALIKE)
@given(p=any_parts)
def test_a_function_of_one_tensor(name: str, p: Parts) -> None:
    if name == "two axes" and len(p.size) == 1:
        return
    f, by_dense = ALIKE[name]
    found = results(f, p, [], compat)
    assert_agree(found, results(lambda th, x: by_dense(p.dense(x._entries)), p, [], compat))


@pytest.mark.parametrize("name", ALIKE)
@given(p=any_parts)
def test_a_function_of_one_tensor_as_pytorch_has_it(name: str, p: Parts) -> None:
    th = pytest.importorskip("torch")
    if name == "sine":
        pytest.skip("PyTorch's gradient of it is not implemented")
    if 0 in (*p.size, p.values.size) or (name == "two axes" and len(p.size) == 1):
        return  # PyTorch has errors of its own for some of these
    assert_agree(results(ALIKE[name][0], p, [], compat), results(ALIKE[name][0], p, [], th))


PRODUCTS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "mm": (lambda th, x, y: th.mm(x, y), lambda m, n: (n, 3)),
    "matmul": (lambda th, x, y: th.matmul(x, y), lambda m, n: (n, 0)),
    "@": (lambda th, x, y: x @ y, lambda m, n: (n, 1)),
    "spmm": (lambda th, x, y: th.spmm(x, y), lambda m, n: (n, 2)),
    "sparse.mm": (lambda th, x, y: th.sparse.mm(x, y), lambda m, n: (n, 2)),
    "transposed": (lambda th, x, y: x.t() @ y, lambda m, n: (m, 2)),
    "coalesced": (lambda th, x, y: x.coalesce() @ y, lambda m, n: (n, 2)),
    "from the left": (lambda th, x, y: y @ x, lambda m, n: (2, m)),
    "mv": (lambda th, x, y: th.mv(x, y), lambda m, n: (n,)),
    "@ vector": (lambda th, x, y: x @ y, lambda m, n: (n,)),
    "linear": (lambda th, x, y: th.nn.functional.linear(x, y), lambda m, n: (2, n)),
    "dense + sparse": (lambda th, x, y: y + x, lambda m, n: (m, n)),
    "dense - sparse": (lambda th, x, y: th.sub(y, x, alpha=2), lambda m, n: (m, n)),
    "sparse * dense": (lambda th, x, y: x * y, lambda m, n: (m, n)),
    "dense * sparse": (lambda th, x, y: y * x, lambda m, n: (m, n)),
}


@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.parametrize("oracle", ["dense", "torch"])
@given(p=matrices)
def test_a_dense_operand(name: str, oracle: str, p: Parts) -> None:
    f, shape = PRODUCTS[name]
    y = p.rng.normal(size=shape(*p.size))
    found = results(f, p, [y], compat)
    if oracle == "torch":
        th = pytest.importorskip("torch")
        if 0 in (*p.size, *y.shape, p.values.size):
            return  # PyTorch has errors of its own for some of these
        assert_agree(found, results(f, p, [y], th))
        return
    as_dense = lambda th, x, *o: f(compat, p.dense(x._entries), *o)  # noqa: E731
    if name == "sparse.mm":
        as_dense = lambda th, x, y: p.dense(x._entries) @ y  # noqa: E731
    if name == "coalesced":
        as_dense = lambda th, x, y: p.dense(x._entries) @ y  # noqa: E731
    assert_agree(found, results(as_dense, p, [y], compat))


@pytest.mark.parametrize("name", ["spmm", "dsmm"])
def test_older_names_of_mm_take_out(name: str) -> None:
    y = compat.empty(2, 1)
    assert getattr(compat, name)(compat.eye(2), compat.ones(2, 1), out=y) is y
    assert y.tolist() == [[1.0], [1.0]]


@given(p=matrices, q=matrices)
def test_two_sparse_factors(p: Parts, q: Parts) -> None:
    q.size = (p.size[1], q.size[1])
    q.places[0] = q.places[0] % max(q.size[0], 1)
    if 0 in q.size:
        q.places, q.values = q.places[:, :0], q.values[:0]
    q.dtype = p.dtype

    def grads(product: Callable[..., Any]) -> list[Any]:
        a, b = p.values_in(compat), q.values_in(compat)
        y = product(a, b)
        (y * y).sum().backward()
        return [x.detach().numpy() for x in (y, a.grad, b.grad)]

    sparse = grads(lambda a, b: (p.sparse(compat, a) @ q.sparse(compat, b)).to_dense())
    assert_agree(sparse, grads(lambda a, b: p.dense(a) @ q.dense(b)))


@given(p=matrices)
def test_two_patterns(p: Parts) -> None:
    def f(x: Any, y: Any) -> Any:
        return dense(x * y) + dense(x + y) + dense(y - x)

    def grads(make: Callable[[Any], Any]) -> list[Any]:
        values = p.values_in(compat)
        other = compat.eye(*p.size, dtype=values.dtype).to_sparse()
        y = f(make(values), other if make(values).is_sparse else other.to_dense())
        (y * y).sum().backward()
        return [y.detach().numpy(), values.grad.numpy()]

    assert_agree(grads(lambda v: p.sparse(compat, v)), grads(p.dense))


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@given(p=matrices, dim=st.sampled_from([0, 1, -1]))
def test_softmax(name: str, p: Parts, dim: int) -> None:
    values = p.values_in(compat)
    x = p.sparse(compat, values)
    y = getattr(compat.sparse, name)(x, dim)
    there = compat.zeros(p.size, dtype=compat.bool)
    there[tuple(map(compat.tensor, p.places))] = True
    filled = p.dense(values).masked_fill(~there, -np.inf)
    expected = getattr(compat, name)(filled, dim).masked_fill(~there, 0.0)
    np.testing.assert_allclose(dense(y).detach(), expected.detach().numpy(), 1e-5, 1e-6)
    if name == "softmax" and values.numel() and values.dtype is compat.float64:

        def f(v: Any) -> Any:
            return compat.sparse.softmax(p.sparse(compat, v), dim).to_dense()

        assert gradcheck(f, (values,)) and gradgradcheck(f, (values,))


def test_second_derivatives() -> None:
    p = Parts(0, (3, 4), 7, (), "float64")
    y = compat.randn(4, 2, dtype=compat.float64, requires_grad=True)

    def f(values: Any, y: Any) -> Any:
        return ((p.sparse(compat, values).coalesce() @ y) ** 3).sum()

    assert gradcheck(f, (p.values_in(compat), y))
    assert gradgradcheck(f, (p.values_in(compat), y))


def test_transforms_see_the_values() -> None:
    p = Parts(1, (3, 4), 7, (), "float64")
    values = p.values_in(compat).detach()
    y = compat.randn(4, 2, dtype=compat.float64)
    by_sparse = lambda v: ((p.sparse(compat, v) @ y) ** 3).sum()  # noqa: E731
    by_dense = lambda v: ((p.dense(v) @ y) ** 3).sum()  # noqa: E731
    for transform in (compat.func.grad, compat.func.hessian, compat.func.jacfwd):
        np.testing.assert_allclose(transform(by_sparse)(values), transform(by_dense)(values))
    found = compat.func.vmap(by_sparse)(compat.stack([values, 2 * values]))
    np.testing.assert_allclose(found, [by_dense(values), by_dense(2 * values)])
    values.requires_grad_()
    for x in (p.sparse(compat, values), p.dense(values)):  # of the tape outside
        compat.func.grad(lambda y, x=x: ((x @ y) ** 3).sum())(y).sum().backward()
    seen = values.grad / 2
    values.grad = None
    compat.func.grad(lambda y: ((p.dense(values) @ y) ** 3).sum())(y).sum().backward()
    np.testing.assert_allclose(seen, values.grad)
    values = values.detach()
    with compat.autograd.forward_ad.dual_level():
        dual = compat.autograd.forward_ad.make_dual(values, values)
        tangent = compat.autograd.forward_ad.unpack_dual(by_sparse(dual)).tangent
    np.testing.assert_allclose(tangent, 3 * by_dense(values))


# ---------------------------------------------------------------- parts, forms, errors


def example(torch: Any, **options: Any) -> Any:
    values = torch.tensor([1.0, 2.0, 3.0, 4.0])
    return torch.sparse_coo_tensor([[0, 1, 1, 1], [2, 0, 2, 2]], values, (2, 3), **options)


def test_the_parts(torch: Any) -> None:
    x = example(torch)
    assert x.is_sparse and x.layout is torch.sparse_coo and not x.is_coalesced()
    assert x.shape == (2, 3) and x.size(1) == 3 and x.dim() == 2 and x.numel() == 6
    assert (x.sparse_dim(), x.dense_dim(), x._nnz()) == (2, 0, 4)
    assert isinstance(x, torch.Tensor) and torch.is_tensor(x)
    assert not isinstance(x, torch.FloatTensor) and x.type() == "torch.sparse.FloatTensor"
    for part in ("indices", "values"):
        with pytest.raises(RuntimeError, match=f"Cannot get {part} on an uncoalesced tensor"):
            getattr(x, part)()
    y = x.coalesce()
    assert y.coalesce() is y and y.is_coalesced() and y._nnz() == 3
    assert y.indices().tolist() == [[0, 1, 1], [2, 0, 2]] and y.values().tolist() == [1, 2, 7]
    assert y.t().shape == (3, 2) and not y.t().is_coalesced()
    assert x.double().dtype is x.to(torch.float64).dtype is torch.float64
    assert x.to(torch.float32) is x and x.cpu() is x
    assert torch.ones(2).to_dense().tolist() == [1.0, 1.0] and not torch.ones(2).is_sparse


PRINTED = {
    "a": "example(torch)",
    "b": "example(torch, requires_grad=True)",
    "c": "example(torch).double()",
    "d": "torch.sparse_coo_tensor(size=(2, 3))",
    "e": "torch.eye(2).int().to_sparse()",
    "f": "torch.ones(2, 2, 2).to_sparse(1)",
    "g": "torch.sparse.FloatTensor(2, 3)",
}


@pytest.mark.parametrize("case", PRINTED)
def test_printed_as_pytorch_prints(case: str) -> None:
    th = pytest.importorskip("torch")
    ours, theirs = (
        repr(eval(PRINTED[case], {"torch": w, "example": example})) for w in (compat, th)
    )
    assert ours == theirs


def test_it_shows_where_it_comes_from() -> None:
    values = compat.ones(1, requires_grad=True)
    text = repr(compat.sparse_coo_tensor([[0]], values))
    assert re.search(r"layout=torch\.sparse_coo, grad_fn=<\w+Backward0>\)$", text)


def test_a_leaf(torch: Any) -> None:
    x = example(torch, requires_grad=True)
    y = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], requires_grad=True)
    assert x.is_leaf and x.requires_grad and x.grad is None
    torch.sparse.mm(x, y).sum().backward()
    assert x.grad.is_sparse and x.grad._nnz() == 3
    assert x.grad.to_dense().tolist() == [[0, 0, 11], [3, 0, 11]]
    assert y.grad.tolist() == [[2, 2], [0, 0], [8, 8]]
    torch.sparse.mm(x, y).sum().backward()
    assert x.grad.to_dense().tolist() == [[0, 0, 22], [6, 0, 22]]
    x.grad = None
    assert x.grad is None
    other = x.detach()
    assert not other.requires_grad and other.requires_grad_() is other and other.is_leaf
    assert copy.deepcopy(x).requires_grad and copy.deepcopy(x) is not x


def test_values_keep_their_memory(torch: Any) -> None:
    values = torch.ones(2)
    places = torch.tensor([[0, 1]])
    x = torch.sparse_coo_tensor(places, values, (2,))
    values[0] = 5.0
    assert x.to_dense().tolist() == [5.0, 1.0] and x._values().tolist() == [5.0, 1.0]


def test_writes_into_what_was_saved_are_found() -> None:
    values = compat.ones(2)
    x = compat.sparse_coo_tensor([[0, 1], [0, 0]], values, (2, 1))
    y = (x @ compat.ones(1, 1, requires_grad=True)).sum()
    values[0] = 5.0
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_places_are_copied() -> None:
    places = compat.tensor([[0, 1]])
    x = compat.sparse_coo_tensor(places, [1.0, 2.0])
    places[0, 0] = x._indices()[0, 0] = 1
    assert x.to_dense().tolist() == [1.0, 2.0]


WRONG = {
    "lengths": ("[[0, 1]], [1.0]", "indices and values must have same nnz"),
    "axes": ("[[0, 1]], [1.0, 2.0], (2, 2)", r"len\(size\) == sparse_dim \+ dense_dim"),
    "negative": ("[[-1]], [1.0]", "found negative index -1 for dim 0"),
    "integers": ("[[0]], [1], (1,), requires_grad=True", "floating point"),
    "dense size": ("[[0]], [[1.0, 2.0]], (1, 3)", "values has incorrect size"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_does_not_fit(torch: Any, case: str) -> None:
    arguments, message = WRONG[case]
    with pytest.raises(RuntimeError, match=message):
        eval(f"torch.sparse_coo_tensor({arguments})", {"torch": torch})


def test_places_are_checked() -> None:
    with pytest.raises(RuntimeError, match="for dim 0, size is 1 but found index 1"):
        compat.sparse_coo_tensor([[1]], [1.0], (1,))
    with pytest.raises(TypeError, match="indices must be integers"):
        compat.sparse_coo_tensor([[0.5]], [1.0])
    with pytest.raises(RuntimeError, match="are not in order"):
        compat.sparse_coo_tensor([[1, 0]], [1.0, 2.0], is_coalesced=True)


def test_dense_on_the_right_of_a_sum(torch: Any) -> None:
    for f in (lambda x: x + torch.ones(2, 3), lambda x: x - torch.ones(2, 3), lambda x: x + 1):
        with pytest.raises(RuntimeError, match=r"Use add\(dense, sparse\) instead"):
            f(example(torch))
    with pytest.raises(RuntimeError, match="requires a scalar or zero-dim dense tensor divisor"):
        example(torch) / torch.ones(2, 3)


REFUSALS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "function": (lambda x: compat.exp(x), "exp"),
    "method": (lambda x: x.max(), "max"),
    "in place": (lambda x: x.mul_(2), "mul_"),
    "index": (lambda x: x[0], "getitem"),
    "layer": (lambda x: compat.nn.functional.layer_norm(x, (3,)), "layer_norm"),
    "comparison": (lambda x: x == x, "eq"),
    "several": (lambda x: compat.cat([x, x]), "cat"),
    "like": (lambda x: compat.zeros_like(x), "zeros_like"),
    "parameter": (lambda x: compat.nn.Parameter(x), "Parameter"),
    "grad": (lambda x: compat.autograd.grad(x.sum(), x, allow_unused=True), "grad"),
    "backward": (lambda x: x.backward(), "backward"),
    "hook": (lambda x: x.register_hook(print), "register_hook"),
    "optimizer": (lambda x: compat.optim.SGD([x], 0.1).step(), "step"),
    "out": (lambda x: compat.add(compat.ones(2, 3), 1, out=x), "add"),
    "NumPy": (lambda x: np.sin(x), "__array_ufunc__"),
    "into": (lambda x: compat.ones(2, 3).copy_(x), "copy_"),
    "batch": (lambda x: x @ compat.ones(2, 3, 3), "a product with a batch of matrices"),
    "divisor": (lambda x: 2 / x, "div"),
    "operand": (lambda x: compat.where(compat.ones(2, 3) > 0, x, x), "where"),
    "transform": (lambda x: compat.func.grad(lambda y: y.sum())(x), "transform"),
    "pickle": (lambda x: pickle.dumps(x), "pickling"),
}


@pytest.mark.parametrize("case", REFUSALS)
@pytest.mark.filterwarnings("error")
def test_a_refusal_names_the_operation_and_the_way_out(case: str) -> None:
    f, name = REFUSALS[case]
    with pytest.raises(NotImplementedError) as caught:
        f(example(compat, requires_grad=True))
    assert re.search(rf"(^|\W){re.escape(name)}(\(\))? is {REFUSED}", str(caught.value))
    assert caught.value.__cause__ is None and caught.value.__context__ is None


def test_what_saves_is_refused() -> None:
    with pytest.raises(TypeError, match="SparseTensor is not data"):
        compat.save(example(compat), io.BytesIO())
    with pytest.raises(TypeError, match=r"Use Tensor\.to_dense"):
        example(compat).numpy()
    assert compat.ones(2, 3).to_sparse().type(compat.float64).dtype is compat.float64


# ---------------------------------------------------------------- everything there is

ARGUMENTS: dict[str, Callable[[Any, Any], tuple[Any, ...]]] = {
    "x": lambda x, y: (x,),
    "x, y": lambda x, y: (x, y),
    "y, x": lambda x, y: (y, x),
    "x, x": lambda x, y: (x, x),
    "x, 2": lambda x, y: (x, 2.0),
    "x, 1": lambda x, y: (x, 1),
    "x, 0, 1": lambda x, y: (x, 0, 1),
    "y, y, x": lambda x, y: (y, y, x),
    "y, x, y": lambda x, y: (y, x, y),
    "[x, y]": lambda x, y: ([x, y],),
}
# What answers by the layout, draws, sets something, or shows memory.
OTHER = re.compile(
    r"dropout|lowrank|vmap|^set_|^use_|seed|^_|contiguous|^layout$|sparse|stride|^type$|^grad|data|leaf|"
    r"^compile$|^save$|typename|to_torch|dlpack|storage|^is_$|^layout$"
)


def functions() -> dict[str, Callable[..., Any]]:
    found = {}
    for owner in (compat, compat.nn.functional, compat.linalg, compat.special):
        for name, f in inspect.getmembers(owner, inspect.isfunction):
            if not OTHER.search(name):
                found[f"{owner.__name__}.{name}"] = f
    for name in dir(compat.Tensor):
        if not OTHER.search(name):
            found[f"Tensor.{name}"] = lambda x, *args, name=name: _member(x, name, args)
    return found


def _member(x: Any, name: str, args: Any) -> Any:
    found = getattr(x, name)
    return found(*args) if callable(found) else found


def plain(x: Any) -> Any:
    """Results with dense tensors in place of sparse ones, as arrays."""
    if isinstance(x, compat.Tensor):
        return dense(x).detach().numpy()
    return [plain(y) for y in x] if isinstance(x, tuple | list) else x


def assert_close(a: Any, b: Any, name: str) -> None:
    if isinstance(b, list):
        assert len(a) == len(b), name
        for x, y in zip(a, b, strict=True):
            assert_close(x, y, name)
    elif isinstance(b, np.ndarray) and b.dtype.kind in "fc":
        assert a.dtype == b.dtype, name
        np.testing.assert_allclose(a, b, 1e-5, 1e-6, err_msg=name)
    else:
        np.testing.assert_equal(a, b, name)


@pytest.mark.parametrize("arguments", ARGUMENTS)
def test_what_is_not_refused_is_what_dense_tensors_give(arguments: str) -> None:
    answered = 0
    for name, f in functions().items():

        def called(as_sparse: bool, f: Any = f) -> list[Any]:
            values = compat.tensor([1.0, 2.0, 3.0], requires_grad=True)
            x = compat.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], values, (3, 3))
            y = compat.arange(9.0).reshape(3, 3) + 1
            out = f(*ARGUMENTS[arguments](x if as_sparse else x.to_dense(), y))
            if isinstance(out, compat.Tensor) and out.dtype.is_floating_point:
                if out.requires_grad:
                    dense(out).square().sum().backward()
                out = [out, values.grad if values.grad is not None else compat.zeros(3)]
            return plain(out)

        try:
            found = called(True)
        except Exception:
            continue
        answered += 1
        assert_close(found, called(False), name)
    assert answered >= 3


# ---------------------------------------------------------------- as an input of a Function


def _product(torch: Any, saves: bool) -> Any:
    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, matrix: Any, x: Any) -> Any:
            if saves:
                ctx.save_for_backward(matrix)
            else:
                ctx.matrix = matrix
            return torch.mm(matrix, x)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (matrix,) = ctx.saved_tensors if saves else (ctx.matrix,)
            return None, torch.mm(matrix.t(), grad)

    return Product.apply


@pytest.mark.parametrize("saves", [True, False], ids=["saved", "kept"])
def test_a_sparse_input_of_a_function_is_a_constant(torch: Any, saves: bool) -> None:
    matrix = torch.tensor([[0.0, 2.0, 0.0], [3.0, 0.0, 0.0]], dtype=torch.float64)
    product = _product(torch, saves)
    x = torch.arange(6.0, dtype=torch.float64).reshape(3, 2).requires_grad_()
    y = product(matrix.to_sparse(), x)
    (g,) = torch.autograd.grad(y, x, torch.ones_like(y) + y.detach(), create_graph=True)
    assert torch.equal(y, matrix @ x)
    assert torch.equal(g, matrix.T @ (1 + matrix @ x))


@pytest.mark.parametrize("saves", [True, False], ids=["saved", "kept"])
def test_what_a_function_cannot_do_with_sparse_tensors_is_said(saves: bool) -> None:
    product = _product(compat, saves)
    x, values = compat.ones(2, 2, requires_grad=True), compat.ones(1, requires_grad=True)
    with pytest.raises(NotImplementedError, match=r"Product\.apply\(\): a sparse tensor that req"):
        product(compat.sparse_coo_tensor([[0], [1]], values, (2, 2)), x)

    class Makes(compat.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            if saves:
                ctx.save_for_backward(x.to_sparse())
            else:
                ctx.made = x.to_sparse()
            return 2 * x

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad

    with pytest.raises(NotImplementedError, match="a sparse tensor that forward has made"):
        Makes.apply(x)
