"""Names that libraries for JAX import: what has a meaning here has it, all else says so when called."""

from __future__ import annotations

import enum
import functools
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import funcgrad
import funcgrad.jax as fjax
import funcgrad.numpy as fnp
from funcgrad import lax, tree
from funcgrad.errors import ArgumentError, ConcretizationError, NotLinearError
from funcgrad.jax import api_util, ops
from funcgrad.jax.experimental.checkify import checkify
from funcgrad.jax.extend import core, linear_util
from funcgrad.jax.interpreters import ad, batching, mlir, partial_eval, xla
from funcgrad.numpy.narrow import Narrow

NARROW = [x for x in vars(fnp).values() if isinstance(x, Narrow)]


def test_what_is_not_there_is_imported_and_says_so_when_called() -> None:
    from funcgrad.jax.experimental.layout import Format
    from funcgrad.jax.experimental.sparse import BCOO, BCSR, sparsify

    absent = [
        Format,
        BCOO,
        BCSR,
        sparsify,
        xla.apply_primitive,
        core.TraceTag,
        core.take_current_trace,
        fjax.sharding.AbstractMesh,
    ]
    absent += [core.primitives.jit_p, linear_util.transformation(max)]
    assert len(set(absent)) == len(absent)
    for name in absent:
        assert not isinstance(np.ones(2), name)
        with pytest.raises(ArgumentError, match=f"{name.__name__} is not offered"):
            name(3)


@pytest.mark.parametrize("narrow", NARROW, ids=repr)
def test_dtypes_that_numpy_has_not_are_no_dtype_of_an_array(narrow) -> None:
    for dtype in (float, "float16", int, object):
        assert np.dtype(dtype) != narrow and np.ones(2, dtype).dtype != narrow
    for make in (np.zeros, fnp.zeros, fnp.ones):
        with pytest.raises(ArgumentError, match=f"{narrow} is no dtype"):
            make(2, dtype=narrow)
    with pytest.raises(ArgumentError, match=f"{narrow} is no dtype"):
        funcgrad.jit(lambda x: x.astype(narrow))(np.ones(2))


def test_functions_of_trees_are_functions_of_leaves() -> None:
    f = lambda x, y, *, z: {"a": x["u"] * z, "b": (y, x["v"])}  # noqa: E731
    args, kwargs = ({"u": 2.0, "v": 3.0}, 4.0), {"z": 5.0}
    leaves, structure = tree.flatten((args, kwargs))
    flat, out_tree = api_util.flatten_fun(linear_util.wrap_init(f), structure)
    outs = flat.call_wrapped(*leaves)
    assert tree.unflatten(out_tree(), outs) == f(*args, **kwargs)
    leaves, structure = tree.flatten(args)
    with_z = linear_util.wrap_init(f, kwargs, debug_info=api_util.debug_info("a test", f, args, {}))
    flat, out_tree = api_util.flatten_fun_nokwargs(with_z, structure)
    outs = flat.call_wrapped(*leaves)
    assert tree.unflatten(out_tree(), outs) == f(*args, **kwargs)


@pytest.mark.parametrize(
    "transform", [lambda f: f, funcgrad.jit, funcgrad.vmap], ids=["plain", "jit", "vmap"]
)
def test_what_is_known_is_computed_and_the_rest_is_a_program(transform) -> None:
    def split(known):
        def f(x, y):
            made = fnp.zeros(2)
            made[0] = 3.0
            return [2.0 * x, x * y.sum(), fnp.sin(y), made]

        pvals = [
            partial_eval.PartialVal.known(known),
            partial_eval.PartialVal.unknown(fjax.ShapeDtypeStruct((2,), float)),
        ]
        fun = linear_util.wrap_init(f)
        program, outs, consts = partial_eval.trace_to_jaxpr_nounits(fun, pvals)
        assert [p.pval is None for p in outs] == [True, False, False, True] and consts == []
        assert outs[1].pval.shape == known.shape and outs[2].pval.shape == (2,)
        rest = fjax.core.eval_jaxpr(program, program.consts, np.array([1.0, 2.0]))
        everything = partial_eval.trace_to_jaxpr_nounits(fun, pvals, instantiate=True)
        assert len(everything[0].outs) == 4
        return outs[0].const, *rest, outs[3].const

    twice, product, sine, made = transform(split)(np.array([5.0]))
    assert np.ravel(twice) == [10.0] and np.ravel(product) == [15.0]
    assert np.allclose(sine, np.sin([1.0, 2.0])) and np.allclose(made, [3.0, 0.0])


def test_a_structure_takes_what_lies_at_its_leaves() -> None:
    prefix = tree.structure({"a": 0, "b": (0, None), "c": [0]})
    full = {"a": [1, 2], "b": ({"x": 3}, None), "c": [(4, 5)]}
    assert prefix.flatten_up_to(full) == [[1, 2], {"x": 3}, (4, 5)]
    assert tree.structure(0).flatten_up_to(full) == [full]
    for other in ({"a": 1, "b": (2, None)}, {**full, "b": (2, 3)}, {**full, "c": [1, 2]}, [1]):
        with pytest.raises(ValueError, match="needed"):
            prefix.flatten_up_to(other)


def test_states_of_transforms_are_told_apart() -> None:
    outside, seen = core.get_opaque_trace_state(convention="flax"), []
    assert fjax.core.trace_state_clean()

    def f(x):
        seen.append((core.get_opaque_trace_state(), fjax.core.trace_state_clean()))
        return x

    for transform in (funcgrad.vmap, funcgrad.grad, funcgrad.jit):
        transform(lambda x: f(fnp.sum(x)))(np.ones(1))
    assert all(state != outside and not clean for state, clean in seen) and len(seen) == 3


def test_rows_of_no_segment_are_left_out() -> None:
    data, ids = np.array([1.0, 2.0, 4.0, 8.0]), np.array([0, -1, 1, 7])
    assert ops.segment_sum(data, ids, 2).tolist() == [1.0, 4.0]
    assert ops.segment_max(data, ids, 2).tolist() == ops.segment_min(data, ids, 2).tolist()
    assert ops.segment_prod(data, ids, 2).tolist() == [1.0, 4.0]
    summed = lambda x: ops.segment_sum(x, ids, 2).sum()  # noqa: E731
    assert funcgrad.jit(funcgrad.grad(summed))(data).tolist() == [1.0, 0.0, 1.0, 0.0]
    assert ops.segment_sum(data, ids, 2, mode="clip").tolist() == [3.0, 12.0]


def test_places_between_two_elements_are_rounded_away_from_zero() -> None:
    x, places = np.array([1.0, 2.0, 4.0]), np.array([-0.5, 0.5, 1.5, 2.5, -0.4])
    for mode, first, last in (("constant", 9.0, 9.0), ("nearest", 1.0, 4.0), ("wrap", 4.0, 1.0)):
        found = fjax.scipy.ndimage.map_coordinates(x, [places], 0, mode, cval=9.0)
        assert found.tolist() == [first, 2.0, 4.0, last, 1.0], mode
    whole = fjax.scipy.ndimage.map_coordinates(x, [np.array([2, 0])], 0)
    assert whole.tolist() == [4.0, 1.0]


def test_shard_map_decorates() -> None:
    mesh = fjax.sharding.Mesh(fjax.devices(), "i")

    @fjax.shard_map(mesh=mesh, in_specs=fjax.P("i"), out_specs=fjax.P())
    def total(x):
        return funcgrad.lax.psum(fnp.sum(x * x), "i")

    for f in (total, funcgrad.jit(total)):
        assert f(np.array([1.0, 2.0])) == 5.0
    assert funcgrad.grad(total)(np.array([1.0, 2.0])).tolist() == [2.0, 4.0]


def test_scipy_functions_with_the_options_of_jax() -> None:
    inside, outside = np.array([[0.5]]), np.array([[0.5], [3.0]])
    table = fjax.scipy.interpolate.RegularGridInterpolator(([0.0, 1.0],), [1.0, 3.0])
    for f in (table, funcgrad.jit(table)):
        np.testing.assert_array_equal(f(outside), [2.0, np.nan])
    assert funcgrad.grad(lambda x: table(x)[0])(inside).tolist() == [[2.0]]
    with pytest.raises(ArgumentError, match="outside"):
        fjax.scipy.interpolate.RegularGridInterpolator(([0.0, 1.0],), [1.0, 3.0], "linear", True)(
            outside
        )
    assert fjax.scipy.interpolate.interp1d is funcgrad.scipy.interpolate.interp1d
    linalg, a = fjax.scipy.linalg, np.array([[2.0, 1.0], [0.0, 3.0]])
    u, p = linalg.polar(a, "left", method="svd", eps=1e-9, max_iterations=5)
    np.testing.assert_allclose(p @ u, a, atol=1e-12)
    x = linalg.solve_sylvester(A=a, B=a, C=np.eye(2), method="eigen", tol=1e-9)
    np.testing.assert_allclose(a @ x + x @ a, np.eye(2), atol=1e-12)


@pytest.mark.parametrize(("axis", "size"), [(0, 0), (2, 0), (3, 1)])
def test_windows_wider_than_the_axis_are_none(axis, size) -> None:
    x = np.ones((axis, 4))
    for computation, first in ((lax.add, 0.0), (lax.max, -np.inf), (lambda a, b: a + b, 0.0)):
        window = lambda x, f=computation, y=first: lax.reduce_window(  # noqa: E731
            x, y, f, (3, 2), (1, 1), "VALID"
        )
        assert window(x).shape == funcgrad.jit(window)(x).shape == (size, 3)


def test_scans_and_products_take_what_flax_passes() -> None:
    assert lax.scan(lambda c, x: (c + x, None), 0.0, np.ones(3), _split_transpose=False)[0] == 3.0
    x = np.ones((2, 2))
    assert fnp.einsum("ij,jk->ik", x, x, _dot_general=lax.dot_general).tolist() == [[2.0] * 2] * 2
    with pytest.raises(ArgumentError, match="_dot_general"):
        fnp.einsum("ij,jk->ik", x, x, _dot_general=lambda *args, **kwargs: x)


def test_what_is_not_there_says_so_of_its_attributes() -> None:
    from funcgrad.jax.experimental.sparse import BCOO

    with pytest.raises(AttributeError, match=r"BCOO is not offered: a matrix of scipy\.sparse"):
        BCOO.fromdense(np.eye(2))
    assert not hasattr(BCOO, "fromdense")


def test_checks_for_finding_faults_are_made_where_they_are_caught() -> None:
    def f(x):
        fjax.experimental.checkify.debug_check(x > 0, "x is {x}", x=x)
        return 2 * x

    for g in (f, funcgrad.jit(f)):
        assert g(-1.0) == -2.0
        error, y = checkify(g)(-1.0)
        assert error.get().startswith("x is -1.0") and np.isnan(y)
        assert g(-1.0) == -2.0 and checkify(g)(1.0)[0].get() is None


def test_transposes_of_linear_calls_are_what_is_given() -> None:
    call = fjax.custom_derivatives.linear_call

    def f(r, x):
        return call(lambda r, x: fnp.dot(r, x), lambda r, ct: 10 * r.T @ ct, r, x)

    r, x = np.array([[1.0, 2.0], [0.0, 3.0]]), np.array([1.0, -1.0])
    of_x = funcgrad.grad(lambda r, x: f(r, x).sum(), argnums=1)
    for g in (of_x, funcgrad.jit(of_x)):
        np.testing.assert_array_equal(g(r, x), 10 * r.sum(0))
    many = funcgrad.vmap(of_x)(np.stack([r, 2 * r]), np.stack([x, x]))
    np.testing.assert_array_equal(many, [10 * r.sum(0), 20 * r.sum(0)])
    np.testing.assert_array_equal(funcgrad.jvp(lambda x: f(r, x), (x,), (x,))[1], r @ x)
    twice = funcgrad.vjp(lambda ct: funcgrad.vjp(lambda x: f(r, x), x)[1](ct)[0], x)[1]
    np.testing.assert_array_equal(twice(x)[0], r @ x)  # the transpose of the transpose


def test_types_of_arrays_and_keys_of_words() -> None:
    x = np.ones((2, 3), np.float32)
    assert funcgrad.ShapeDtypeStruct.like(x) == funcgrad.ShapeDtypeStruct((2, 3), np.float32)
    key = funcgrad.random.key(3)
    for dtype in (key.dtype, "threefry2x32", None):
        assert (funcgrad.random.wrap_key_data(np.asarray(key), dtype=dtype) == key).all()
    with pytest.raises(ArgumentError, match="rbg"):
        funcgrad.random.wrap_key_data(np.asarray(key), dtype="rbg")


def test_caught_errors_are_no_leaves() -> None:
    error, _ = checkify(lambda x: fjax.experimental.checkify.check(x > 0, "no"))(-1.0)
    assert tree.leaves(error) == [] and fjax.device_get(error).get() == error.get() != ""


def test_devices_are_one_and_arrays_lie_on_it() -> None:
    x = np.ones(2)
    assert fjax.sharding.get_abstract_mesh().empty and not fjax.make_mesh((1,), ("i",)).empty
    assert fjax.sharding.reshard(x, fjax.P("i")) is x and fjax.typeof(x).sharding is None
    assert fjax.version.__version__ == fjax.__version__


def test_limits_of_dtypes_are_those_of_arrays_too() -> None:
    for dtype in ("float16", "float32", float):
        x = np.ones(2, dtype)
        assert fnp.finfo(x) == fnp.finfo(dtype) == np.finfo(dtype)
        assert funcgrad.jit(lambda x: x * 0 + fnp.finfo(x).eps)(x)[0] == np.finfo(dtype).eps
    assert fnp.iinfo(np.ones(2, "int8")).max == fnp.iinfo("int8").max == 127


def _primitive(**tables):
    triple = core.Primitive("triple")
    triple.def_impl(lambda x, *, by: by * fnp.sin(x))
    triple.def_abstract_eval(lambda x, *, by: x)
    mlir.register_lowering(triple, mlir.lower_fun(triple.impl, multiple_results=False))
    for name, rule in tables.items():
        getattr(ad if hasattr(ad, name) else batching, name)[triple] = functools.partial(
            rule, triple
        )
    return lambda x: triple.bind(x, by=3.0)


def test_primitives_have_the_rules_of_the_tables() -> None:
    x = np.array([0.5, 1.0])
    plain = _primitive()
    assert np.allclose(funcgrad.jit(plain)(x), 3.0 * np.sin(x))
    assert np.allclose(funcgrad.vmap(funcgrad.grad(plain))(x), 3.0 * np.cos(x))

    def jvp(prim, primals, tangents, *, by):
        (x,), (t,) = primals, tangents
        return prim.bind(x, by=by), 10.0 * ad.instantiate_zeros(t)

    for transform in (funcgrad.grad, funcgrad.jacfwd):
        assert funcgrad.jit(transform(_primitive(primitive_jvps=jvp)))(0.5) == 10.0
    zero = lambda prim, xs, ts, *, by: (xs[0], ad.Zero(fjax.typeof(xs[0])))  # noqa: E731
    assert funcgrad.grad(_primitive(primitive_jvps=zero))(0.5) == 0.0

    def transpose(prim, ct, x, *, by):
        assert ad.is_undefined_primal(x) and not ad.is_undefined_primal(ct)
        return (7.0 * ct,)

    assert funcgrad.grad(_primitive(primitive_transposes=transpose))(0.5) == 7.0
    each = lambda prim, xs, axes, *, by: (xs[0] + 100.0, axes[0])  # noqa: E731
    assert funcgrad.vmap(_primitive(primitive_batchers=each), 1, 1)(x[None]).tolist() == [
        [100.5, 101.0]
    ]
    sized = lambda prim, size, name, kind, xs, axes, *, by: (xs[0] * size, axes[0])  # noqa: E731
    assert funcgrad.vmap(_primitive(axis_primitive_batchers=sized))(x).tolist() == [1.0, 2.0]
    with pytest.raises(ArgumentError, match="no implementation"):
        core.Primitive("empty").bind(1.0)


def test_results_that_a_rule_says_do_not_move_are_no_operands_that_do() -> None:
    two, strict = core.Primitive("two"), core.Primitive("strict")
    two.multiple_results = True
    two.def_impl(lambda x: [2.0 * x, 3.0 * x])
    strict.def_impl(lambda x: 1.0 * x)

    def jvp_of_two(primals, tangents):
        return two.bind(*primals), [2.0 * tangents[0], ad.Zero(fjax.typeof(primals[0]))]

    def jvp_of_strict(primals, tangents):
        assert isinstance(tangents[0], ad.Zero), "it has no derivative"
        return strict.bind(*primals), tangents[0]

    ad.primitive_jvps[two], ad.primitive_jvps[strict] = jvp_of_two, jvp_of_strict

    def f(x):
        moving, still = two.bind(x)
        return moving * strict.bind(still)

    def looped(x):
        step = lambda c, _: ((f(c[0]), two.bind(c[0])[1]), strict.bind(c[1]))  # noqa: E731
        (y, _), seen = fjax.lax.scan(step, (x, 1.0), None, length=2)
        return y + seen[-1]

    def chosen(x):
        (y, _) = fjax.lax.cond(x > 0.0, two.bind, lambda x: [x, x], x)
        return y * strict.bind(two.bind(y)[1])

    for transform in (lambda f: f, funcgrad.jit):
        for by in (funcgrad.grad, funcgrad.jacfwd):
            assert transform(by(f))(0.5) == 2.0 * 1.5
            assert transform(by(looped))(0.5) == 2.0 * 1.5 * 2.0 * 4.5
            assert transform(by(chosen))(0.5) == 2.0 * 3.0
        each = funcgrad.vmap(funcgrad.grad(f))
        assert transform(each)(np.array([0.5, 1.0])).tolist() == [3.0, 6.0]


@pytest.mark.parametrize("transform", [lambda f: f, funcgrad.jit], ids=["plain", "jit"])
def test_primitives_are_told_what_moves_and_are_linear_in_single_operands(transform) -> None:
    solve, seen = core.Primitive("solve"), []
    solve.multiple_results = True
    solve.def_impl(lambda a, b: [fnp.linalg.solve(a, b), fnp.array(3)])

    def jvp(primals, tangents):
        (a, b), (da, db) = primals, tangents
        seen.append(tuple(isinstance(t, ad.Zero) for t in tangents))
        x, count = solve.bind(a, b)
        moved = ad.instantiate_zeros(db)
        if not isinstance(da, ad.Zero):
            moved = moved - da @ x
        return [x, count], [solve.bind(a, moved)[0], ad.Zero(fjax.typeof(0.0))]

    def transpose(cts, a, b):
        assert ad.is_undefined_primal(b) and not ad.is_undefined_primal(a)
        return [ad.Zero(fjax.typeof(a)), solve.bind(a.T, cts[0])[0]]

    ad.primitive_jvps[solve], ad.primitive_transposes[solve] = jvp, transpose
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(3, 3)) + 3.0 * np.eye(3), rng.normal(size=3)
    f = lambda a, b: fnp.sum(fnp.sin(solve.bind(a, b)[0]))  # noqa: E731
    g = lambda a, b: fnp.sum(fnp.sin(fnp.linalg.solve(a, b)))  # noqa: E731
    stacks = np.stack([a, 2.0 * a]), np.stack([b, b + 1.0])
    for argnums, zeros in ((0, (False, True)), (1, (True, False)), ((0, 1), (False, False))):
        seen.clear()
        for by in (funcgrad.grad, funcgrad.jacfwd):
            found, needed = transform(by(f, argnums))(a, b), by(g, argnums)(a, b)
            for x, y in zip(tree.leaves(found), tree.leaves(needed), strict=True):
                np.testing.assert_allclose(x, y, rtol=1e-9)
        assert set(seen) == {zeros}
    each = transform(funcgrad.vmap(funcgrad.grad(f, (0, 1))))(*stacks)
    for x, y in zip(each, funcgrad.vmap(funcgrad.grad(g, (0, 1)))(*stacks), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-9)
    for axes in ((0, None), (None, 0)):
        total = lambda f, a, b, axes=axes: fnp.sum(funcgrad.vmap(f, axes)(a, b))  # noqa: E731
        at = [s if axis == 0 else s[0] for s, axis in zip(stacks, axes, strict=True)]
        found = transform(funcgrad.grad(lambda a, b: total(f, a, b), (0, 1)))(*at)  # noqa: B023
        needed = funcgrad.grad(lambda a, b: total(g, a, b), (0, 1))(*at)  # noqa: B023
        for x, y in zip(found, needed, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-9)
    second = transform(funcgrad.hessian(f, 1))(a, b)
    np.testing.assert_allclose(second, funcgrad.hessian(g, 1)(a, b), rtol=1e-9)


def test_functions_that_tangents_go_through_need_no_transpose() -> None:
    """A function with a derivative of its own is applied to the tangent in another's rule."""
    cast = funcgrad.custom_jvp(lambda x: 2.0 * x)
    cast.defjvp(lambda xs, ts: (cast(*xs), cast(*ts)))
    assert funcgrad.grad(cast)(3.0) == funcgrad.jit(funcgrad.grad(cast))(3.0) == 2.0
    each = funcgrad.vmap(funcgrad.grad(lambda x: cast(x) ** 2))(np.array([1.0, 2.0]))
    assert each.tolist() == [8.0, 16.0]
    bent = funcgrad.custom_jvp(lambda x: fnp.sin(x))
    bent.defjvp(lambda xs, ts: (bent(*xs), bent(*ts)))
    with pytest.raises(NotLinearError):
        funcgrad.grad(bent)(1.0)


def test_types_of_examples_and_of_all_of_them() -> None:
    aval = fjax.ShapeDtypeStruct((2, 3), float)
    for axis in (0, 1, 2):
        assert core.mapped_aval(5, axis, core.unmapped_aval(5, axis, aval)) == aval
    assert core.mapped_aval(5, None, aval) == core.unmapped_aval(5, None, aval) == aval


INSTALLED = """
import dataclasses, funcgrad.jax
from funcgrad import tree

@dataclasses.dataclass
class A:
    x: float

@dataclasses.dataclass
class B:
    x: float

@tree.register_node_class
@dataclasses.dataclass
class C:
    x: float
    def tree_flatten(self): return (self.x,), None
    @classmethod
    def tree_unflatten(cls, aux, children): return cls(*children)

funcgrad.jax.install()
assert tree.leaves([A(1.0)]) == [A(1.0)] and tree.leaves([C(1.0)]) == [1.0]
calls = []

def body(c, x):
    calls.append(c)
    return c * x, c

f = lambda: funcgrad.lax.scan(body, 1.0, funcgrad.numpy.array([2.0, 3.0]))
(last, each), count = f(), len(calls)
assert (last, each.tolist()) == (6.0, [1.0, 2.0]) and not isinstance(calls[0], float)
longer = funcgrad.lax.scan(body, 1.0, funcgrad.numpy.ones(9))
assert len(calls) == 2 * count
ys = funcgrad.numpy.array([2.0, 3.0])
grad = funcgrad.grad(lambda x: funcgrad.lax.scan(lambda c, y: (c * y, None), x, ys)[0])(1.0)
assert grad == 6.0
funcgrad.jax.remove()
calls.clear()
assert f()[0] == 6.0 and len(calls) == 2
assert tree.leaves([A(1.0), B(2.0), C(3.0)]) == [1.0, 2.0, 3.0]
"""


def test_dataclasses_are_leaves_and_bodies_of_scans_run_once() -> None:
    ran = subprocess.run([sys.executable, "-c", INSTALLED], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def test_operands_of_other_classes_have_their_turn() -> None:
    class Block:
        __array_priority__ = 2000

        def __rmatmul__(self, other):
            return other * 3.0

        __rmul__ = __radd__ = __rmatmul__

    for f in (lambda x: x @ Block(), lambda x: x * Block(), lambda x: x + Block()):
        for transform in (funcgrad.jit, funcgrad.vmap, lambda f: f):
            assert np.array_equal(transform(f)(np.ones((2, 2))), np.full((2, 2), 3.0))
        assert funcgrad.grad(lambda x, f=f: f(x).sum())(np.ones(2)).tolist() == [3.0, 3.0]
    with pytest.raises(ArgumentError):
        funcgrad.jit(lambda x: x @ object())(np.ones(2))


@pytest.mark.parametrize("moving", [True, False])
def test_what_is_called_in_a_branch_is_called_where_that_is_taken(moving) -> None:
    seen = []

    def called(x):
        seen.append(x)
        return np.float64(5.0)

    @funcgrad.jit
    def f(x):
        given = x if moving else 2.0
        return lax.cond(
            x > 0, lambda: x, lambda: funcgrad.pure_callback(called, np.float64(0), given)
        )

    assert f(1.0) == 1.0 and seen == []
    assert f(-1.0) == 5.0 and seen == [-1.0 if moving else 2.0]


def test_programs_come_with_the_types_of_their_results() -> None:
    f = lambda x, n, y=1.0: [x * y, {"n": x.sum() * n}]  # noqa: E731
    program, types = fjax.make_jaxpr(f, static_argnums=1, return_shape=True)(np.ones(3), 2, y=2.0)
    assert [t.shape for t in tree.leaves(types)] == [(3,), ()]
    assert fjax.make_jaxpr(f, (1,))(np.ones(3), 2).out_avals == program.out_avals
    outs = fjax.core.eval_jaxpr(program.jaxpr, program.consts, np.ones(3), 2.0)
    assert outs[0].tolist() == [2.0] * 3 and outs[1] == 6.0
    with pytest.raises(ArgumentError, match="axis_env"):
        fjax.make_jaxpr(f, axis_env=[("i", 2)])


_KEYS = """
    import numpy as np
    import funcgrad.jax
    funcgrad.jax.install()
    import jax
    import jax.numpy as jnp
    import jax.random as jr

    words = np.array([0, 3], np.uint32)
    key, raw = jr.key(3), jr.PRNGKey(3)
    assert key.shape == () and raw.shape == (2,) and isinstance(key, jax.Array)
    assert jnp.issubdtype(key.dtype, jax.dtypes.prng_key)
    assert not jnp.issubdtype(raw.dtype, jax.dtypes.prng_key)
    same = lambda keys, of: np.array_equal(jr.key_data(keys), of)
    assert same(key, words) and same(jr.wrap_key_data(words), words) and same(jr.clone(key), words)
    assert bool(key == jr.wrap_key_data(words)) and not bool(jnp.equal(key, jr.key(4)))

    draws = [
        jr.normal, jr.uniform, jr.bits, jr.bernoulli, jr.exponential, jr.rademacher, jr.laplace,
        lambda k: jr.randint(k, (3,), 0, 9), lambda k: jr.permutation(k, 5), lambda k: jr.gamma(k, 2.0),
        lambda k: jr.choice(k, 9, (3,)), lambda k: jr.poisson(k, 3.0), lambda k: jr.binomial(k, 9, 0.4),
        lambda k: jr.categorical(k, np.zeros(4)), lambda k: jr.dirichlet(k, np.ones(3)),
        lambda k: jr.split(k, 3) if k.dtype == raw.dtype else jr.key_data(jr.split(k, 3)),
        lambda k: jr.fold_in(k, 7) if k.dtype == raw.dtype else jr.key_data(jr.fold_in(k, 7)),
    ]
    many, raws = jr.split(key, 3), jr.split(raw, 3)
    assert many.shape == (3,) and same(many, raws)
    for draw in draws:  # a key that is one element draws what its words do, under transforms too
        expected = draw(raw)
        assert np.array_equal(draw(key), expected)
        assert np.array_equal(jax.jit(draw)(key), expected)
        each = [draw(k) for k in raws]
        assert np.array_equal(jax.vmap(draw)(many), each)
        assert np.array_equal(jax.lax.map(draw, many), each)

    for moved in (jnp.stack([many[1], key])[0], many.reshape(3, 1)[1, 0], jnp.where(True, many, key)[1],
                  jax.jit(lambda ks, i: ks[i])(many, 1), many.at[0].set(many[1])[0]):
        assert moved.shape == () and same(moved, raws[1])

    def walk(w, k):
        def step(carry, _):
            w, k = carry
            now, k = jr.split(k)
            return (w * jr.uniform(now), k), w
        return jax.lax.scan(step, (w, k), None, length=4)[0][0]

    branches = lambda w, k: jax.lax.cond(w > 0, walk, walk, w, k)
    for f in (walk, jax.checkpoint(walk), jax.jit(walk), branches):
        value, slope = f(2.0, key), jax.grad(f)(2.0, key)
        assert np.allclose(value, walk(2.0, raw)) and np.allclose(slope, value / 2)
        assert np.allclose(jax.jvp(lambda w: f(w, key), (2.0,), (1.0,))[1], slope)
    funcgrad.jax.remove()
    assert funcgrad.random.key(3).tolist() == [0, 3]
"""


def test_keys_behind_install_are_single_elements() -> None:
    code = textwrap.dedent(_KEYS)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_types_have_a_kind_of_numbers_too() -> None:
    for dtype in ("float32", "complex64", "int8"):
        aval = funcgrad.eval_shape(lambda x: x, np.ones(2, dtype))
        assert fnp.iscomplexobj(aval) is np.iscomplexobj(np.ones(2, dtype))
        assert fnp.isrealobj(aval) is np.isrealobj(np.ones(2, dtype))


def test_what_stands_for_an_array_is_an_operand() -> None:
    class Holder:
        def __init__(self, value):
            self.value = value

        def __jax_array__(self):
            return self.value

    x = np.arange(3.0)
    f = lambda w: fnp.dot(x, Holder(w)) + fnp.sum(fnp.stack([Holder(w), x]))  # noqa: E731
    assert f(x) == 11.0
    for g in (funcgrad.grad(f), funcgrad.jit(funcgrad.grad(f))):
        np.testing.assert_allclose(g(x), x + 1)


def test_leaves_are_chosen_by_their_paths() -> None:
    nest = {"a": [(1, 2), None, {"b": (3, [4])}], "c": 5, "d": ()}
    deep = lambda path, node: len(path) >= 2  # noqa: E731
    pairs, structure = tree.flatten_with_path(nest, deep, is_leaf_takes_path=True)
    assert [leaf for _, leaf in pairs] == [(1, 2), None, {"b": (3, [4])}, 5]
    assert tree.unflatten(structure, [leaf for _, leaf in pairs]) == nest
    assert tree.leaves_with_path(nest, deep, is_leaf_takes_path=True) == pairs
    named = tree.map_with_path(lambda path, x: x, nest, is_leaf=deep, is_leaf_takes_path=True)
    assert named == nest
    by_node = lambda _, node: isinstance(node, tuple)  # noqa: E731
    assert tree.flatten_with_path(nest, by_node, True) == tree.flatten_with_path(
        nest, lambda node: isinstance(node, tuple)
    )


def test_methods_of_arrays_are_found_at_their_class() -> None:
    x = np.array([3.0, 1.0])
    for value in (x, np.float64(2.0)):
        assert funcgrad.Array.sum(value) == value.sum()
    assert funcgrad.grad(lambda x: funcgrad.Array.sum(x * x))(x).tolist() == [6.0, 2.0]
    assert not hasattr(funcgrad.Array, "__array__") and not hasattr(funcgrad.Array, "frobnicate")


def test_operations_above_arrays_are_defined_and_not_applied() -> None:
    from funcgrad.jax.experimental import hijax

    class Box(hijax.HiPrimitive):
        pass

    hijax.control_flow_allowed_effects.add_type(core.Effect)
    with pytest.raises(ArgumentError, match="box is an operation on values that are no arrays"):
        Box("box").bind(1.0)
    for absent in (fjax.Ref, fjax.new_ref, hijax.AvalQDD):
        with pytest.raises(ArgumentError, match="is not offered"):
            absent(np.ones(2))


@pytest.mark.parametrize("transform", [lambda f: f, funcgrad.jit])
def test_systems_with_matrices_by_rows_are_those_with_dense_ones(transform) -> None:
    pytest.importorskip("scipy")
    from funcgrad.jax.experimental.sparse.linalg import spsolve

    columns, starts = np.array([0, 2, 1, 0, 2]), np.array([0, 2, 3, 5])
    rows = np.repeat(np.arange(3), np.diff(starts))
    data, b = np.array([4.0, 1.0, 5.0, 2.0, 6.0]), np.array([1.0, 2.0, 3.0])

    def dense(data, b):
        return fnp.sum(fnp.linalg.solve(fnp.at(fnp.zeros((3, 3)))[rows, columns].set(data), b) ** 3)

    f = lambda data, b: fnp.sum(spsolve(data, columns, starts, b) ** 3)  # noqa: E731
    for make in (lambda f: f, lambda f: funcgrad.grad(f, (0, 1)), funcgrad.hessian):
        found, needed = transform(make(f))(data, b), make(dense)(data, b)
        for x, y in zip(tree.leaves(found), tree.leaves(needed), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-12)
    each = funcgrad.vmap(f, (0, None))(np.stack([data, 2 * data]), b)
    np.testing.assert_allclose(each, [f(data, b), f(2 * data, b)], rtol=1e-12)
    with pytest.raises(np.linalg.LinAlgError, match="spsolve: "):
        spsolve(0.0 * data, columns, starts, b)


def test_values_are_asked_for_by_name() -> None:
    assert fjax.core.concrete_or_error(int, 2.0) == 2 and fjax.core.concrete_or_error(None, 3) == 3
    assert funcgrad.grad(lambda x: x * fjax.core.concrete_or_error(float, x))(3.0) == 3.0
    with pytest.raises(ConcretizationError, match=r"found a traced one\. Only so"):
        funcgrad.jit(lambda x: fjax.core.concrete_or_error(None, x, "Only so."))(1.0)


def test_numbers_may_be_members_of_enumerations() -> None:
    class Status(enum.IntEnum):
        FINE, FAILED = 0, 3

    f = lambda x: fnp.where(x < Status.FAILED, Status.FAILED * x, x)  # noqa: E731
    assert funcgrad.jit(funcgrad.grad(f))(2.0) == 3.0
    assert funcgrad.vmap(f)(np.array([1, 5])).tolist() == [3, 5]
    larger = lambda x: fnp.maximum(x, Status.FAILED)  # noqa: E731
    assert funcgrad.jit(larger)(np.float32(1)).dtype == larger(np.float32(1)).dtype
