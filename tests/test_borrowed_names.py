"""Code whose imports cannot be changed: `funcgrad.jax.install`; and JAX's names for what is here."""

from __future__ import annotations

import copy
import inspect
import pickle
import subprocess
import sys

import numpy as np
import pytest

import funcgrad
import funcgrad.jax as fjax
import funcgrad.numpy as fnp
from funcgrad import lax
from funcgrad.errors import ArgumentError, ConcretizationError

SCRIPT = """
import funcgrad.jax
{install}

import {name}
import {name}.numpy as jnp
import {name}.scipy.stats as stats
import {name}.scipy.stats.norm as norm
from {name} import grad, jit, lax, random, vmap
from {name}.experimental.ode import odeint
from {name}.nn import relu
from {name}.scipy.special import logsumexp
from {name}.typing import ArrayLike

assert {name}.numpy is jnp is funcgrad.numpy and stats is funcgrad.scipy.stats
assert {name}.scipy is funcgrad.jax.scipy and {name}.scipy.stats is stats
assert norm is stats.norm is funcgrad.scipy.stats.norm and not hasattr(norm, "__spec__")
assert jnp.__spec__.name == "funcgrad.numpy" and lax.scan is funcgrad.lax.scan
assert {name}.errors is funcgrad.jax.errors and {name}.grad is funcgrad.grad

{name}.config.update("jax_enable_x64", True)

def loss(w, x):
    return jnp.mean(logsumexp(relu(x @ w), axis=1)) - stats.norm.logpdf(w).sum()

w, x = random.normal(random.key(0), (3, 2)), random.normal(random.key(1), (5, 3))
each = jit(vmap(grad(loss), (None, 0)))(w, x[:, None])
print(float(jnp.sum(jit(grad(loss))(w, x) - each.mean(0)).round(9)))
try:
    import {name}.experimental.pallas
except ModuleNotFoundError as error:
    print(error)
"""

ARRAYS = """
import funcgrad.jax
funcgrad.jax.install()
funcgrad.jax.install()
import jax, jax.numpy as jnp
import numpy as np

x = jnp.zeros(3).at[1].add(2.0).block_until_ready()
f = jax.jit(lambda x: x.at[0].set(x.sum()).block_until_ready())
assert f(x).at[jnp.array([0, 7])].set(5.0, mode="drop").tolist() == [5.0, 2.0, 0.0]
assert x.sum().block_until_ready() == 2.0 and x.sum().at[()].add(1.0) == 3.0
assert x.ptp() == 2.0 and x.aval.shape == (3,) and not x.weak_type
assert [d.platform for d in x.devices()] == ["cpu"]
assert x.sum(where=None) == 2.0 and np.float64(3.0).max(where=None, initial=0.0) == 3.0
assert x.any(where=None) and x.sum(where=[True, False, True]) == 0.0 and x.mean(0) == 2.0 / 3.0
assert jax.grad(lambda x: jax.jit(lambda y: y.sum(where=None))(x))(x).tolist() == [1.0] * 3
ties = np.tile([2.0, 0.0, 1.0, 0.0], 50)
assert ties.argsort().tolist() == np.argsort(ties, stable=True).tolist() == jnp.argsort(ties).tolist()
assert ties.argsort(descending=True).tolist() == jnp.argsort(-ties).tolist()
assert ties.reshape(50, 4).argsort(0).T[2].tolist() == list(range(50))
assert ties.argsort(kind="heapsort", axis=0).shape == ties.argsort(stable=False).shape == (200,)
funcgrad.jax.remove()
funcgrad.jax.remove()
assert type(vars(np.ndarray)["argsort"]) is type(vars(np.ndarray)["sort"])
assert not hasattr(x, "at") and not hasattr(np.float64(1.0), "at")
assert not hasattr(x, "ptp") and x.dtype == float
assert x.sum(where=None) == 0.0 and type(vars(np.ndarray)["sum"]) is type(vars(np.ndarray)["sort"])
import sys
assert not [name for name in sys.modules if name.split(".")[0] == "jax"]
sys.modules["jax"] = np
try:
    funcgrad.jax.install()
except funcgrad.errors.ArgumentError as error:
    print(error)
assert not hasattr(x, "at")
"""


def _ran(script: str) -> str:
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_an_alias_is_the_package_itself() -> None:
    by_hand = 'import sys; sys.modules["agrad"] = funcgrad.jax'
    for name, install in (("jax", "funcgrad.jax.install()"), ("agrad", by_hand)):
        value, message = _ran(SCRIPT.format(name=name, install=install)).splitlines()
        assert float(value) == 0.0
        assert message == (
            f"No module named '{name}.experimental.pallas': funcgrad.experimental.pallas stands for "
            "it and is not offered here"
        )


BEHIND_FUNCTIONS = """
import sys
import compat
sys.modules["torch"] = compat
import torch.autograd.gradcheck
import torch.nn.utils.spectral_norm
from torch.autograd.gradcheck import GradcheckError
from torch.nn.utils.weight_norm import WeightNorm
for found in (torch.autograd.gradcheck, torch.nn.utils.spectral_norm, torch.nn.utils.weight_norm):
    print(type(found).__name__)
print(sys.modules["torch.autograd.gradcheck"] is sys.modules["compat.autograd.gradcheck"])
"""


def test_submodules_do_not_come_over_functions_of_their_names() -> None:
    assert _ran(BEHIND_FUNCTIONS).split() == ["function"] * 3 + ["True"]


def test_installed_arrays_have_attributes_of_jax_and_lose_them() -> None:
    assert "jax is imported already, from" in _ran(ARRAYS)


READING = """
import funcgrad.jax
from funcgrad.jaxpr import Eqn
own = set(dir(Eqn)), set(dir(funcgrad.lax))
funcgrad.jax.install()
import jax, jax.numpy as jnp
from jax.extend.core import Literal, Var
from jax.extend.core.primitives import sin_p

inverses = {
    jax.lax.exp_p: jax.lax.log_p.bind,
    jax.lax.mul_p: (jax.lax.div_p.bind, lambda x, y: jax.lax.div_p.bind(y, x)),
    jax.lax.sub_p: (jax.lax.add_p.bind, lambda x, y: x - y),
}

def inverted(f, y):
    closed = jax.make_jaxpr(f)(1.0)
    program, (place,) = closed.jaxpr, closed.jaxpr.invars
    values = dict(zip(program.constvars, closed.literals)) | {program.outvars[0]: y}
    for eqn in reversed(program.eqns):
        known = [x.val if isinstance(x, Literal) else values.get(x) for x in eqn.invars]
        moving = [isinstance(x, Var) and x not in values for x in eqn.invars].index(True)
        inverse = inverses[eqn.primitive]
        bind = inverse[moving] if isinstance(inverse, tuple) else inverse
        known[moving] = values[eqn.outvars[0]]
        functions, params = eqn.primitive.get_bind_params(eqn.params)
        values[eqn.invars[moving]] = bind(*functions, *known, **params)
        assert not (eqn.primitive.multiple_results or eqn.primitive.call_primitive)
    return values[place]

f = lambda x: 3.0 - jnp.exp(2.0 * x)
print(inverted(f, f(0.25)).round(12), jax.jit(jax.grad(lambda y: inverted(f, y)))(f(0.25)))
assert jax.lax.sin_p is sin_p is jax.lax.sin and jax.lax.conj_p.bind(1j) == -1j
assert jax.typeof(1).at_least_vspace() == jax.typeof(1).to_tangent_aval()
assert jax.lax.rsqrt_p is not jax.lax.sqrt_p and jax.lax.and_p.bind(3, 6) == 2
assert list(jax.make_jaxpr(jax.lax.rsqrt)(1.0).eqns[0].primitive.bind(4.0).shape) == []
from jaxlib import xla_client
import jaxlib.xla_client as client
assert isinstance(jax.devices()[0], xla_client.Device) and client is xla_client
def is_traced(x):
    trace = jax.extend.core.find_top_trace([x])
    return [y._trace.main is trace.main for y in (2.0 * x, jnp.ones(2) + jax.lax.floor(x))]
assert jax.jvp(lambda x: (x, is_traced(x)), (1.0,), (1.0,), has_aux=True)[2] == [True, False]
try:
    jax.lax.rsqrt_p.bind(4.0)
except AttributeError as error:
    print(error)
funcgrad.jax.remove()
import sys
assert not [name for name in sys.modules if name.split(".")[0] == "jaxlib"]
assert own == (set(dir(Eqn)), set(dir(funcgrad.lax)))
"""


def test_programs_are_read_by_names_of_jax() -> None:
    found, error = _ran(READING).splitlines()
    place, slope = map(float, found.split())
    assert place == 0.25 and np.isclose(slope, -1 / (2 * np.exp(0.5)))
    assert error.startswith("rsqrt_p is not offered: rsqrt is several operations")


TYPES = """
import copy, pickle
import numpy as np
import funcgrad.jax
funcgrad.jax.install()
import jax, jax.numpy as jnp

x = np.array([1.75, -2.5])
for name in ("float32", "float16", "int32", "uint8", "complex64", "intp", "double"):
    ours, own = getattr(jnp, name), getattr(np, name)
    as_given = lambda x: ours(x)
    for way in (lambda f: f, jax.jit, jax.vmap, lambda f: jax.jit(jax.vmap(f))):
        found = way(as_given)(abs(x))
        assert found.dtype == own and np.array_equal(found, abs(x).astype(own)), name
    assert jax.jit(lambda x: ours([x, 1]))(3).dtype == np.dtype(ours) == own == ours
    assert ours(1).__class__ is own and isinstance(own(1), ours) and not isinstance(1.5, ours)
    assert issubclass(own, ours) and not issubclass(np.bool, ours) and {own: 1}[ours] == 1
    assert pickle.loads(pickle.dumps(ours)) is own and copy.deepcopy(ours) is ours
    assert np.zeros(2, ours).dtype == jnp.ones(2, ours).dtype == x.astype(ours).dtype == own
    assert ours != np.bool and ours != "f" and np.issubdtype(ours, np.number)
assert jax.grad(lambda x: jnp.float32(x) ** 2)(3.0) == 6.0
funcgrad.jax.remove()
assert funcgrad.numpy.float32 is np.float32 and funcgrad.numpy.double is np.float64
"""


def test_types_of_numbers_convert_traced_values() -> None:
    _ran(TYPES)


def test_everything_of_funcgrad_is_there() -> None:
    assert set(dir(funcgrad)) <= set(dir(fjax))
    assert fjax.grad is funcgrad.grad and fjax.numpy is fnp
    for name in ("grad", "value_and_grad", "vjp", "jvp", "jacfwd", "hessian", "jit", "vmap"):
        assert next(iter(inspect.signature(getattr(fjax, name)).parameters)) == "fun", name
    with pytest.raises(AttributeError, match="no_such_name"):
        fjax.no_such_name  # noqa: B018
    assert all(hasattr(fjax, name) for name in fjax.__all__)


def test_types_of_arrays_are_known_by_their_names() -> None:
    x = fjax.ShapeDtypeStruct((2, 3), "float32", sharding=None)
    for name in (fjax.ShapeDtypeStruct, fjax.core.ShapedArray):
        assert isinstance(x, name) and not isinstance(np.ones(2), name)
        assert isinstance(fjax.typeof(np.ones(2)), name)
    assert (
        fjax.core.ShapedArray([2, 3], np.float32) == x == fjax.core.get_aval(np.ones((2, 3), "f"))
    )
    assert fjax.core.ShapedArray((), float, True) == fjax.typeof(1.0)
    assert fjax.core.Tracer is funcgrad.core.Tracer


@pytest.mark.parametrize("mode", ["constant", "nearest", "wrap", "mirror", "reflect"])
@pytest.mark.parametrize("order", [0, 1])
def test_images_beyond_their_edges_are_those_of_jax(mode, order) -> None:
    theirs = pytest.importorskip("scipy.ndimage")
    x, places = (
        np.arange(6.0).reshape(2, 3) ** 2,
        np.array([[-0.3, 0.6, 1.4, 2.2], [2.7, 0.1, 3.9, -1.2]]),
    )
    found = fjax.scipy.ndimage.map_coordinates(x, places, order, mode, cval=7.0)
    kind = {"constant": "constant", "nearest": "edge", "mirror": "reflect", "reflect": "symmetric"}
    padded = np.pad(
        x, 6, kind.get(mode, mode), **{"constant_values": 7.0} if mode == "constant" else {}
    )
    assert np.allclose(found, theirs.map_coordinates(padded, places + 6, order=order))


# ---------------------------------------------------------------- settings


def test_settings_that_do_not_hold_here_are_refused() -> None:
    for name, value in (("jax_enable_x64", False), ("jax_debug_nans", True), ("no_setting", 1)):
        with pytest.raises(ArgumentError, match=f"{name}={value}"):
            fjax.config.update(name, value)
    with pytest.raises(ArgumentError, match="jax_enable_x64=False"):
        fjax.enable_x64(False)
    with pytest.raises(AttributeError, match="no_setting"):
        fjax.config.read("no_setting")
    with pytest.raises(ArgumentError, match="jax_debug_nans=True"):
        fjax.config.jax_debug_nans = True
    fjax.config.jax_enable_x64 = True
    with pytest.raises(ArgumentError, match="device_put moves them"):
        fjax.default_device(fjax.Device("gpu"))
    with fjax.default_device(fjax.devices()[0]), fjax.default_device("cpu"):
        pass


def test_settings_that_hold_are_read_and_are_blocks() -> None:
    assert fjax.config.jax_enable_x64 is fjax.config.read("jax_enable_x64") is True
    assert fjax.config.read("jax_disable_jit") is False
    with fjax.enable_x64(), fjax.checking_leaks(), fjax.numpy_rank_promotion("raise"):
        assert fjax.config.x64_enabled

    @fjax.named_scope("doubled")
    def doubled(x):
        return 2.0 * x

    assert fjax.named_call(doubled, name="f")(1.0) == 2.0


def test_what_is_about_devices_and_xla_changes_nothing() -> None:
    with fjax.log_compiles(False), fjax.debug_infs(False), fjax.transfer_guard("disallow"):
        fjax.effects_barrier()
        fjax.clear_caches()
    with pytest.raises(ArgumentError, match="jax_debug_infs=True"):
        fjax.debug_infs(True)
    mesh = fjax.make_mesh((1,), ("i",), axis_types=(fjax.sharding.AxisType.Auto,))
    sharding = fjax.NamedSharding(mesh, fjax.P("i"))
    with pytest.raises(ArgumentError, match=r"\(2,\) is 2 devices; there are 1"):
        fjax.make_mesh((2,), ("i",))

    def f(x):
        x = lax.with_sharding_constraint(fjax.ad_checkpoint.checkpoint_name(x, "x"), sharding)
        return lax.optimization_barrier({"y": x**3})["y"]

    policies = fjax.checkpoint_policies
    both = policies.save_from_both_policies(
        policies.everything_saveable, policies.save_only_these_names("x")
    )
    g = fjax.grad(fjax.checkpoint(f, policy=both))
    assert g(2.0) == fjax.jit(g, donate_argnames="x")(2.0) == 12.0
    xs = fjax.vmap(g, 0, 0, "i", 2, spmd_axis_name="i")(np.array([1.0, 2.0]))
    assert xs.tolist() == fjax.vmap(g, chunk_size=1)(np.array([1.0, 2.0])).tolist() == [3.0, 12.0]


def test_config_in_itself() -> None:
    from funcgrad.compile.config import code

    before, inner = code(), funcgrad.config("numpy")
    with inner, funcgrad.config("c"), inner:
        assert code() == "numpy"
    assert code() == before


def test_what_is_computed_at_once_in_a_program_is_no_part_of_it() -> None:
    def f(x):
        with fjax.ensure_compile_time_eval():
            table = fnp.cumsum(fnp.arange(4.0))
            assert not isinstance(table, funcgrad.core.Tracer) and float(table[-1]) == 6.0
            x = 1.0 * x  # is traced as always
        return table * x

    assert funcgrad.jit(f)(np.ones(4)).tolist() == [0.0, 1.0, 3.0, 6.0]
    assert len(funcgrad.make_jaxpr(f)(np.ones(4)).eqns) == 2
    assert funcgrad.grad(lambda x: f(x).sum())(np.ones(4)).tolist() == [0.0, 1.0, 3.0, 6.0]


# ---------------------------------------------------------------- devices


def test_arrays_are_put_on_the_cpu() -> None:
    x = np.ones(2)
    assert fjax.device_put(x) is x and fjax.device_put(x, fjax.devices()[0]) is x
    assert fjax.grad(lambda x: fjax.device_put({"x": x})["x"] ** 2)(3.0) == 6.0
    assert fjax.grad(lambda x: fjax.device_get(x) ** 2)(3.0) == 6.0
    assert fjax.device_get([x, 1.0])[0] is x
    assert fjax.device_count() == fjax.local_device_count() == fjax.process_count() == 1
    assert fjax.default_backend() == "cpu" and fjax.process_index() == 0
    with pytest.raises(RuntimeError, match="'tpu'"):
        fjax.devices("tpu")
    mesh = fjax.sharding.Mesh(fjax.devices(), "i")
    sharding = fjax.sharding.NamedSharding(mesh, fjax.sharding.PartitionSpec())
    assert fjax.device_put(x, sharding) is fjax.device_put(x, "cpu") is x
    with pytest.raises(ArgumentError, match="is no device"):
        fjax.device_put(x, 3)


def test_pmap_maps_on_one_device() -> None:
    x = np.arange(6.0).reshape(3, 2)
    total = fjax.pmap(lambda x, k: k * lax.psum(x, "i"), axis_name="i", in_axes=(0, None))
    assert np.array_equal(total(x, 2.0), np.tile(2 * x.sum(0), (3, 1)))
    power = fjax.pmap(lambda x, n: x**n if n > 1 else x, static_broadcasted_argnums=1)
    assert np.array_equal(power(x, 2), x * x) and np.array_equal(power(x, 1), x)
    ones = fjax.pmap(lambda n: n * fnp.ones(2), static_broadcasted_argnums=0, axis_size=3)
    assert ones(2).tolist() == [[2.0, 2.0]] * 3


# ---------------------------------------------------------------- custom derivatives and batches


@pytest.mark.parametrize("transform", [lambda f: f, funcgrad.jit])
def test_custom_gradients_close_over_what_is_traced(transform) -> None:
    @fjax.custom_gradient
    def f(x, y):
        s = np.sin(x)
        return s * y, lambda ct: (ct * y * 10.0, ct * s)

    gradient = transform(funcgrad.grad(f, (0, 1)))
    x, y = 0.5, 2.0
    assert np.allclose(gradient(x, y), (20.0, np.sin(x)))
    xs = np.array([0.1, 0.2])
    assert np.allclose(transform(funcgrad.vmap(funcgrad.grad(f), (0, None)))(xs, y), 20.0)
    second = funcgrad.grad(lambda x: funcgrad.grad(f, 1)(x, y))(x)
    assert np.allclose(second, np.cos(x))


@pytest.mark.parametrize("transform", [lambda f: f, funcgrad.jit])
def test_rules_that_ask_for_symbolic_zeros(transform) -> None:
    """They are told what moves."""
    both = False
    derivatives = fjax.custom_derivatives

    f = fjax.custom_vjp(lambda p, n, y: p["x"] ** n * y, nondiff_argnums=(1,))

    def forward(p, n, y):
        assert n == 3 and p["x"].perturbed and y.perturbed == both
        return p["x"].value ** n * y.value, (p["x"].value, y.value)

    def backward(n, kept, ct):
        assert not isinstance(ct, derivatives.SymbolicZero)
        return {"x": ct * n * kept[0] ** 2 * kept[1]}, ct * kept[0] ** n

    f.defvjp(forward, backward, symbolic_zeros=True, optimize_remat=True)
    g = lambda x: f({"x": x}, 3, 10.0)  # noqa: E731
    assert transform(funcgrad.grad(g))(2.0) == transform(funcgrad.jacfwd(g))(2.0) == 120.0
    each = transform(funcgrad.vmap(funcgrad.grad(g)))(np.array([1.0, 2.0]))
    assert each.tolist() == [30.0, 120.0]
    both = True
    by_both = funcgrad.grad(lambda x, y: f({"x": x}, 3, y), (0, 1))
    assert transform(by_both)(2.0, 10.0) == (120.0, 8.0)
    f.defvjp(lambda p, n, y: (y, None), lambda n, _, ct: ({"x": 7.0 * ct}, None), False)
    assert transform(funcgrad.grad(g))(2.0) == 7.0
    h = fjax.custom_jvp(lambda x: x)

    @h.defjvp
    def rule(xs, ts):
        return xs[0], 5.0 * ts[0]

    zero = fjax.typeof(1.0).to_tangent_aval()
    k = fjax.custom_jvp(lambda x: (x, x))
    k.defjvp(lambda xs, ts: (k(*xs), (ts[0], derivatives.SymbolicZero(zero))), symbolic_zeros=True)
    assert transform(funcgrad.grad(lambda x: k(x)[1] + 3.0 * k(x)[0]))(2.0) == 3.0
    product = fjax.custom_jvp(lambda x, y: x * y["at"])

    def moved(xs, ts):
        still = [isinstance(t, derivatives.SymbolicZero) for t in (ts[0], ts[1]["at"])]
        assert still == [False, not both] and (both or ts[1]["at"].aval.shape == ())
        return product(*xs), ts[0] * (3.0 if both else 7.0)

    product.defjvp(moved, symbolic_zeros=True)
    for both in (True, False):
        by = (lambda x: product(x, {"at": x})) if both else (lambda x: product(x, {"at": 5.0}))
        needed = 3.0 if both else 7.0
        assert transform(funcgrad.grad(by))(2.0) == transform(funcgrad.jacfwd(by))(2.0) == needed
        each = transform(funcgrad.vmap(funcgrad.grad(by)))(np.array([1.0, 2.0]))
        assert each.tolist() == [needed, needed]
    by_both = fjax.custom_vjp(lambda x, y: x * y)
    by_both.defvjp(
        lambda x, y: (x * y, None), lambda _, ct: (7.0 * ct, derivatives.SymbolicZero(zero))
    )
    assert transform(funcgrad.grad(by_both, (0, 1)))(2.0, 3.0) == (7.0, 0.0)
    assert isinstance(h, funcgrad.custom_jvp) and transform(funcgrad.grad(h))(1.0) == 5.0


def test_a_gradient_of_a_tree() -> None:
    @fjax.custom_gradient
    def f(p):
        return p["a"] * p["b"], lambda ct: {"a": 7.0 * ct, "b": 0.0 * ct}

    assert funcgrad.grad(f)({"a": 2.0, "b": 3.0}) == {"a": 7.0, "b": 0.0}


def test_closures_are_converted() -> None:
    def f(a, b):
        g, traced = fjax.closure_convert(lambda x: {"y": a * x["x"] + np.cos(b)}, {"x": 1.0})
        assert len(traced) in (1, 2)
        return g({"x": 3.0}, *traced)["y"]

    assert np.allclose(funcgrad.grad(f, (0, 1))(2.0, 0.5), (3.0, -np.sin(0.5)))


def test_a_rule_for_vmap_sees_what_is_batched() -> None:
    seen = []

    @fjax.custom_batching.custom_vmap
    def f(x, p):
        return x + p["a"]

    @f.def_vmap
    def rule(size, batched, x, p):
        seen.append((size, batched, x.shape))
        return x - p["a"], batched[0]

    x = np.arange(6.0).reshape(2, 3)
    y = funcgrad.vmap(f, (1, None))(x, {"a": 1.0})
    assert np.array_equal(y, x.T - 1.0)
    assert seen == [(3, (True, {"a": False}), (3, 2))]
    assert f(1.0, {"a": 1.0}) == 2.0
    assert np.array_equal(funcgrad.vmap(lambda x: f(x, p={"a": 1.0}))(x), x - 1.0)
    assert funcgrad.grad(f)(1.0, {"a": 1.0}) == 1.0
    with pytest.raises(ArgumentError, match="before a rule"):
        fjax.custom_batching.custom_vmap(lambda x: x)(1.0)


def test_sequential_vmap_calls_once_for_each() -> None:
    @fjax.custom_batching.sequential_vmap
    def f(x, k):
        assert x.shape == (2,)
        return {"y": k * x.sum()}

    x = np.arange(6.0).reshape(3, 2)
    assert np.array_equal(funcgrad.vmap(f, (0, None))(x, 2.0)["y"], 2 * x.sum(1))


# ---------------------------------------------------------------- checks


def test_conditions_are_looked_at_when_programs_run() -> None:
    from funcgrad.jax.experimental import checkify

    def root(x):
        checkify.check(x >= 0, "{} is negative, {kind}", x, kind="so no root")
        return {"y": np.sqrt(x)}

    for f in (root, funcgrad.jit(root), funcgrad.grad(lambda x: root(x)["y"])):
        assert checkify.checkify(f)(4.0)[0].get() is None
        with pytest.raises(checkify.CheckError, match=r"-4\.0 is negative, so no root \(at test_b"):
            f(-4.0)
    error, y = checkify.checkify(root)(-4.0)
    assert np.isnan(y["y"]) and isinstance(error, checkify.Error)
    with pytest.raises(checkify.JaxRuntimeError):
        error.throw()
    with pytest.raises(checkify.CheckError):
        checkify.checkify(root, errors=checkify.float_checks)(-4.0)
    with pytest.raises(checkify.CheckError):
        funcgrad.vmap(root)(np.array([4.0, -4.0]))
    with pytest.raises(checkify.CheckError):  # in a program errors are raised
        funcgrad.jit(checkify.checkify(root))(-4.0)
    always = lambda x: checkify.check(False, "never")  # noqa: E731
    assert checkify.checkify(always)(1.0)[1] is None


def test_other_errors_are_results_where_that_is_asked_for() -> None:
    from funcgrad.jax.experimental import checkify

    f = funcgrad.jit(lambda x, i: fnp.take(np.log(x), i))
    for x, i, found in (
        (1.0, 0, None),
        (-1.0, 0, "invalid value"),
        (0.0, 0, "divide by zero"),
        (1.0, 7, "out of bounds"),
    ):
        error, _ = checkify.checkify(f, errors=checkify.all_checks)(np.array([x, 1.0]), i)
        assert (error.get() is None) if found is None else (found in error.get())
    with pytest.raises(IndexError):
        checkify.checkify(f, errors=checkify.float_checks)(np.ones(2), 7)
    assert checkify.checkify(lambda x: x[7], checkify.index_checks)(np.ones(2))[1] is None
    assert (
        checkify.checkify(lambda x: x + 1, checkify.nan_checks)(np.nan)[0].get()
        == "a result is NaN"
    )


# ---------------------------------------------------------------- other names


def test_jit_takes_what_is_about_devices() -> None:
    double = fjax.jit(static_argnums=1, inline=True, device=None)(lambda x, n: n * x)
    assert double(2.0, 3) == 6.0 and fjax.jit(np.sin, keep_unused=True)(0.0) == 0.0
    assert (
        fjax.jit(np.sin, static_argnums=None, static_argnames=None, donate_argnums=None)(0.0) == 0
    )
    mesh = fjax.sharding.Mesh(fjax.devices(), "x")
    whole = fjax.sharding.NamedSharding(mesh, fjax.sharding.PartitionSpec("x"))
    assert whole.device_set == fjax.sharding.SingleDeviceSharding().device_set
    assert mesh.shape == {"x": 1} and whole.spec == ("x",)
    assert copy.deepcopy(whole.spec) == pickle.loads(pickle.dumps(whole.spec)) == ("x",)
    assert (
        mesh == fjax.sharding.Mesh(fjax.devices(), "x") != fjax.sharding.Mesh(fjax.devices(), "y")
    )


def test_checkpoint_takes_arguments_that_are_fixed() -> None:
    f = fjax.checkpoint(lambda x, n, *, k: k * x**n, static_argnums=(1,), prevent_cse=False)
    assert funcgrad.grad(lambda x: f(x, 2, k=3.0))(3.0) == 18.0
    assert fjax.remat is fjax.checkpoint


def test_programs_are_compiled_before_they_run() -> None:
    f = fjax.jit(lambda x, n: np.exp(x) * n + x, static_argnums=1)
    compiled = f.lower(np.zeros(3), 2).compile()
    assert compiled(np.zeros(3), 2).tolist() == [2.0, 2.0, 2.0]
    assert compiled(np.ones(5), 0).tolist() == [1.0] * 5  # other types, too


def test_errors_are_caught_by_other_names() -> None:
    for error, f in (
        (fjax.errors.TracerBoolConversionError, lambda x: x if x > 0 else -x),
        (fjax.errors.ConcretizationTypeError, lambda x: fnp.zeros(3)[x > 0]),
    ):
        with pytest.raises(error):
            funcgrad.jit(f)(1.0)
    assert fjax.errors.ConcretizationTypeError is ConcretizationError


def test_questions_about_dtypes() -> None:
    assert fjax.dtypes.canonicalize_dtype("int64") == np.int64
    assert not fjax.dtypes.issubdtype(np.uint32, fjax.dtypes.prng_key)
    assert fjax.dtypes.scalar_type_of(np.ones(1, complex)) is complex
    assert isinstance(1.0, fjax.typing.ArrayLike) and fjax.float0.itemsize == 0
    assert repr(fjax.typeof(np.ones((2, 3)))) == "f64[2,3]"


def test_gradients_are_checked() -> None:
    fjax.test_util.check_grads(lambda x: np.sin(x) * x, (0.5,), order=2, modes=["rev"], atol=1e-3)
    wrong = fjax.custom_gradient(lambda x: (x * x, lambda ct: ct))
    with pytest.raises(funcgrad.testing.GradientError):
        fjax.test_util.check_grads(wrong, (3.0,), 1, ("rev",))


def test_equations_are_solved_with_jaxs_arguments() -> None:
    from funcgrad.jax.experimental.ode import odeint

    t = np.linspace(0.0, 1.0, 3)
    y = odeint(lambda y, t, k: {"a": -k * y["a"]}, {"a": np.ones(2)}, t, 2.0)["a"]
    assert np.allclose(y, np.exp(-2 * t)[:, None] * np.ones(2), atol=1e-6)
