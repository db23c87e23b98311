"""The public functions' options, conventions and printed forms, and the guided run."""

from __future__ import annotations

import copy
import functools
import pickle
import subprocess
import sys
import tracemalloc
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import funcgrad
import funcgrad.numpy as fnp
from funcgrad.__main__ import main
from funcgrad.core import REGISTRY, Aval
from funcgrad.errors import ArgumentError, JaxprError, MissingRuleError
from funcgrad.jaxpr import Eqn, Jaxpr, Var

X = np.array([0.3, 0.7, 1.1])

# ---------------------------------------------------------------- the package


def test_subpackages_are_loaded_when_they_are_looked_at() -> None:
    program = (
        "import sys, funcgrad\n"
        "names = ('datasets', 'random', 'testing', 'viz')\n"
        "assert not any(f'funcgrad.{name}' in sys.modules for name in names)\n"
        "assert set(names) <= set(dir(funcgrad))\n"
        "funcgrad.random.key(0), funcgrad.numpy.fft.fft, funcgrad.scipy.linalg.solve_triangular\n"
        "print([getattr(funcgrad, name).__name__ for name in names])\n"
    )
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert finished.stderr == ""
    assert finished.stdout.count("funcgrad.") == 4
    with pytest.raises(AttributeError, match="module 'funcgrad' has no attribute 'nothing'"):
        funcgrad.nothing()


# ---------------------------------------------------------------- complex numbers


def test_complex_argument_of_a_real_function() -> None:
    gradient = funcgrad.grad(lambda z: abs(z) ** 2)(1 + 2j)
    assert complex(gradient) == pytest.approx(2 - 4j)  # df/dx - i df/dy


def test_holomorphic() -> None:
    assert complex(funcgrad.grad(lambda z: z**3, holomorphic=True)(1 + 2j)) == 3 * (1 + 2j) ** 2
    z = np.array([1 + 2j, 3 - 1j])
    for jacobian in (funcgrad.jacfwd, funcgrad.jacrev):
        found = jacobian(lambda z: z * z, holomorphic=True)(z)
        np.testing.assert_allclose(found, np.diag(2 * z))
        with pytest.raises(ArgumentError, match="holomorphic"):
            jacobian(lambda z: z * z)(z)
    with pytest.raises(ArgumentError, match="need a complex array"):
        funcgrad.grad(lambda z: z * 1j, holomorphic=True)(1.0)


# ---------------------------------------------------------------- arguments


def test_integers() -> None:
    assert float(funcgrad.grad(lambda x: x * x)(3)) == 6.0  # a Python int counts as a float
    gradient = funcgrad.grad(lambda p: p["w"] * p["n"][0], allow_int=True)(
        {"w": 2.0, "n": np.arange(1, 3)}
    )
    assert float(gradient["w"]) == 1.0
    assert gradient["n"].shape == (2,)
    assert gradient["n"].dtype == np.dtype([("float0", np.void, 0)])
    assert float(funcgrad.grad(lambda x: x * float(np.argmax(X)) + x.astype(int))(2.0)) == 2.0


def test_selected_arguments() -> None:
    def f(x: Any, y: Any, *, scale: Any = 1.0) -> Any:
        return scale * x * y

    assert float(funcgrad.grad(f)(x=2.0, y=3.0)) == 3.0
    assert list(map(float, funcgrad.grad(f, argnums=(1, 0))(2.0, 3.0))) == [2.0, 3.0]
    assert float(funcgrad.grad(f, argnames="scale")(2.0, 3.0, scale=4.0)) == 6.0
    both = funcgrad.grad(f, argnums=0, argnames="scale")(2.0, 3.0, scale=4.0)
    assert list(map(float, both)) == [12.0, 6.0]
    with pytest.raises(ArgumentError, match="twice"):
        funcgrad.grad(f, argnums=0, argnames="x")(2.0, 3.0)


@pytest.mark.parametrize("transform", ["grad", "jacrev", "jacfwd", "elementwise_grad"])
def test_matrices_and_masked_arrays_are_refused(transform: str) -> None:
    masked = np.ma.masked_array(X, mask=[False, True, False])
    run = getattr(funcgrad, transform)(lambda x: (x * x).sum())
    with pytest.raises(ArgumentError, match=r"argument 0 is a masked array; pass np.asarray\(x\)"):
        run(masked)
    run(np.asarray(masked))


def test_refused_in_every_other_entry() -> None:
    masked = np.ma.masked_array(X, mask=[False, True, False])
    for run in (
        lambda: funcgrad.vjp(np.sin, masked),
        lambda: funcgrad.jvp(np.sin, (masked,), (X,)),
        lambda: funcgrad.linearize(np.sin, masked),
        lambda: funcgrad.linear_transpose(lambda x: 2 * x, masked),
        lambda: funcgrad.hvp(lambda x: (x * x).sum(), (masked,), (X,)),
        lambda: funcgrad.vmap(np.sin)(masked),
        lambda: funcgrad.eval_shape(np.sin, masked),
        lambda: funcgrad.checkpoint(np.sin)(masked),
        lambda: funcgrad.custom_rule(np.sin, vjp=lambda ct, ans, x: (ct,))(masked),
    ):
        with pytest.raises(ArgumentError, match=r"argument 0 is a masked array; pass np.asarray"):
            run()


def test_other_subclasses_of_arrays_are_arrays(tmp_path: Path) -> None:
    class Named(np.ndarray):
        pass

    mapped = np.memmap(tmp_path / "x.bin", dtype=float, mode="w+", shape=3)
    mapped[:] = X
    for x in (mapped, X.view(Named)):
        np.testing.assert_allclose(funcgrad.grad(lambda x: (x * x).sum())(x), 2 * X)
        np.testing.assert_allclose(funcgrad.vmap(np.sin)(x), np.sin(X))


def test_auxiliary_outputs() -> None:
    def f(x: Any) -> Any:
        return (x * x).sum(), {"twice": 2 * x}

    gradient, aux = funcgrad.grad(f, has_aux=True)(X)
    (value, same), _ = funcgrad.value_and_grad(f, has_aux=True)(X)
    assert type(aux["twice"]) is np.ndarray
    np.testing.assert_array_equal(aux["twice"], same["twice"])
    assert float(value) == float((X * X).sum())
    for jacobian in (funcgrad.jacfwd, funcgrad.jacrev):
        np.testing.assert_allclose(jacobian(f, has_aux=True)(X)[0], gradient)
    _, f_vjp, aux = funcgrad.vjp(f, X, has_aux=True)
    np.testing.assert_array_equal(f_vjp(1.0)[0], gradient)
    _, f_jvp, aux = funcgrad.linearize(f, X, has_aux=True)
    assert float(f_jvp(X)) == pytest.approx(float(gradient @ X))
    _, dot, aux = funcgrad.jvp(f, (X,), (X,), has_aux=True)
    assert float(dot) == pytest.approx(float(gradient @ X))
    np.testing.assert_array_equal(aux["twice"], 2 * X)


def test_jacobians_of_trees() -> None:
    def f(p: Any) -> Any:
        return {"a": p["x"] * p["s"], "b": p["x"].sum()}

    point = {"x": X, "s": 2.0}
    for jacobian in (funcgrad.jacfwd, funcgrad.jacrev):
        found = jacobian(f)(point)
        np.testing.assert_allclose(found["a"]["x"], 2 * np.eye(3))
        np.testing.assert_allclose(found["a"]["s"], X)
        np.testing.assert_allclose(found["b"]["x"], np.ones(3))
        assert float(found["b"]["s"]) == 0.0
    second = funcgrad.hessian(lambda p: (p["x"] ** 2).sum() * p["s"])(point)
    np.testing.assert_allclose(second["x"]["x"], 4 * np.eye(3))
    np.testing.assert_allclose(second["x"]["s"], 2 * X)


def test_gradients_have_the_order_of_their_argument() -> None:
    def f(p: Any) -> Any:
        return (p["w"]["z"] * p["w"]["a"]).sum() * p["b"]

    point = {"w": OrderedDict(z=X, a=X), "b": 2.0}
    other = {"b": 1.0, "w": OrderedDict(z=X, a=X)}  # the same structure

    def check(found: Any) -> None:
        assert list(found) == ["w", "b"]
        assert list(found["w"]) == ["z", "a"]

    check(funcgrad.grad(f)(point))
    check(funcgrad.vjp(f, point)[1](1.0)[0])
    check(funcgrad.jacrev(f)(point))
    check(funcgrad.jacfwd(f)(point))
    check(funcgrad.hessian(f)(point))
    check(funcgrad.jvp(lambda p: p, (point,), (other,))[1])
    check(funcgrad.linearize(lambda p: p, point)[1](other))
    assert list(funcgrad.vmap(lambda x: {"b": x, "a": x})(X)) == ["b", "a"]
    assert list(funcgrad.checkpoint(lambda p: p)(point)) == ["w", "b"]


def test_elementwise_grad() -> None:
    np.testing.assert_allclose(funcgrad.elementwise_grad(np.sin)(X), np.cos(X))
    assert float(funcgrad.elementwise_grad(lambda x, y: x * y, 1)(3.0, 4.0)) == 3.0


def test_results_may_be_written_into() -> None:
    x = np.ones(3)
    gradients = funcgrad.grad(lambda x, y: (x + y).sum(), (0, 1))(x, x)
    y, (ct,) = funcgrad.vjp(lambda x: x, x)[0], funcgrad.vjp(lambda x: x, x)[1](x)
    arrays = [*gradients, y, ct, x]
    for i, a in enumerate(arrays):
        a[0] = i
    assert [a[0] for a in arrays] == [0, 1, 2, 3, 4]


# ---------------------------------------------------------------- custom rules


def test_defjvps() -> None:
    f = funcgrad.custom_jvp(lambda x, y: x * y)
    f.defjvps(lambda t, ans, x, y: 10 * t * y, None)
    assert list(map(float, funcgrad.grad(f, (0, 1))(2.0, 3.0))) == [30.0, 0.0]
    assert float(funcgrad.jvp(f, (2.0, 3.0), (1.0, 1.0))[1]) == 30.0


RULES = {
    "jvp": {"jvp": lambda primals, ts: (np.sin(primals[0]), 2 * np.cos(primals[0]) * ts[0])},
    "vjp": {"vjp": lambda ct, ans, x: (2 * ct * np.cos(x),)},
}


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_custom_rule_derives_the_others(rules: dict[str, Any]) -> None:
    f = funcgrad.custom_rule(lambda x: np.sin(x), **rules)
    slope = 2 * np.cos(X)

    def total(x: Any) -> Any:
        return f(x).sum()

    np.testing.assert_allclose(funcgrad.grad(total)(X), slope)
    np.testing.assert_allclose(funcgrad.jvp(f, (X,), (X,))[1], slope * X)
    np.testing.assert_allclose(funcgrad.vmap(funcgrad.grad(f))(X), slope)
    np.testing.assert_allclose(funcgrad.grad(lambda x: funcgrad.vmap(f)(x).sum())(X), slope)
    np.testing.assert_allclose(funcgrad.linearize(f, X)[1](X), slope * X)
    second = funcgrad.grad(funcgrad.grad(f))(0.3)
    assert float(second) == pytest.approx(-2 * np.sin(0.3))
    np.testing.assert_allclose(funcgrad.jacfwd(f)(X), np.diag(slope))
    jaxpr = funcgrad.make_jaxpr(f)(X)
    np.testing.assert_allclose(funcgrad.eval_jaxpr(jaxpr, X)[0], np.sin(X))


@pytest.mark.parametrize("name", ["vjp", "transpose"])
def test_custom_rules_hold_in_derivatives_of_any_order(name: str) -> None:
    """What a rule reads, the result too, has the rule's derivative: not that of the function."""
    rules = {
        "vjp": {"vjp": lambda ct, ans, x: (ct * ans,)},
        "transpose": {"transpose": lambda ct: (3.0 * ct,)},
    }[name]

    def opaque(x: Any) -> Any:
        """Neither function has a derivative of its own, and none takes traced arrays."""
        value = funcgrad.stop_gradient(x)
        return np.exp(value) if name == "vjp" else 3.0 * value

    f = funcgrad.custom_rule(opaque, **rules)

    def g(x: Any) -> Any:
        return f(x) * f(x) if name == "transpose" else f(x)

    second = np.exp(0.5) if name == "vjp" else 18.0
    one = (np.float64(0.5),), (np.float64(1.0),)
    for found in (
        funcgrad.grad(funcgrad.grad(g))(0.5),
        funcgrad.jvp(funcgrad.grad(g), *one)[1],
        funcgrad.grad(lambda x: funcgrad.jvp(g, (x,), one[1])[1])(0.5),
        funcgrad.hessian(g)(0.5),
        funcgrad.jit(funcgrad.grad(funcgrad.grad(g)))(0.5),
        funcgrad.grad(funcgrad.grad(funcgrad.jit(g)))(0.5),
        funcgrad.vmap(funcgrad.grad(funcgrad.grad(g)))(np.array([0.5]))[0],
        funcgrad.grad(lambda x: funcgrad.vmap(funcgrad.grad(g))(x).sum())(np.array([0.5]))[0],
    ):
        assert float(found) == pytest.approx(second)


NUMBER = {
    "rule": lambda: funcgrad.custom_rule(lambda x: 5.0, vjp=lambda ct, ans, x: (ct * x,)),
    "jvp": lambda: funcgrad.custom_jvp(lambda x: 5.0),
    "vjp": lambda: funcgrad.custom_vjp(lambda x: 5.0),
}


@pytest.mark.parametrize("name", NUMBER)
def test_custom_functions_may_return_numbers_of_python(name: str) -> None:
    f = NUMBER[name]()
    if name == "jvp":
        f.defjvp(lambda primals, ts: (5.0, ts[0] * primals[0]))
    if name == "vjp":
        f.defvjp(lambda x: (5.0, x), lambda x, ct: (ct * x,))
    for g, slope in (
        (lambda x: f(x) / 2, 1.5),
        (lambda x: f(x) ** 2, 30.0),
        (lambda x: np.sin(f(x)) * 2, 6 * np.cos(5.0)),
        (lambda x: f(x) + x, 4.0),
    ):
        for found in (
            funcgrad.grad(g)(3.0),
            funcgrad.jvp(g, (3.0,), (1.0,))[1],
            funcgrad.jit(funcgrad.grad(g))(3.0),
            funcgrad.vmap(funcgrad.grad(g))(np.array([3.0]))[0],
        ):
            assert float(found) == pytest.approx(slope)
        assert np.isfinite(funcgrad.grad(funcgrad.grad(g))(3.0))
    assert isinstance(f(3.0), np.float64)


def test_custom_transpose_and_batch() -> None:
    double = funcgrad.custom_rule(lambda x: 2 * x, transpose=lambda ct: (2 * ct,))
    assert funcgrad.linear_transpose(double, X)(X)[0].tolist() == (2 * X).tolist()
    assert float(funcgrad.grad(lambda x: double(x) * x)(3.0)) == 12.0
    sizes = []

    def batch(size: int, axes: tuple[Any, ...], x: Any) -> Any:
        sizes.append((size, axes))
        return np.sin(x), axes[0]

    sine = funcgrad.custom_rule(lambda x: np.sin(x), batch=batch)
    np.testing.assert_allclose(funcgrad.vmap(sine)(X), np.sin(X))
    assert sizes == [(3, (0,))]
    assert float(funcgrad.grad(sine)(0.0)) == 1.0  # the function's own derivative
    with pytest.raises(ArgumentError, match="at least one"):
        funcgrad.custom_rule(np.sin)


def test_custom_functions_are_methods_too() -> None:
    class Model:
        scale = 3.0

        @funcgrad.custom_jvp
        def apply(self, x: Any) -> Any:
            return self.scale * x

    Model.apply = funcgrad.custom_jvp(Model.apply.f, nondiff_argnums=(0,))
    Model.apply.defjvp(lambda self, primals, ts: (self.scale * primals[0], 7.0 * ts[0]))
    assert float(funcgrad.grad(Model().apply)(1.0)) == 7.0


# ---------------------------------------------------------------- what is printed


def test_tracers_show_their_value_where_it_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        print(x, f"{x[0]}", x[0] > 0.0)
        row = x[:2]
        x = x * 1.0
        x[0] = 5.0
        print(row, x[1:].reshape(2, 1))
        return (x * x).sum()

    funcgrad.grad(f)(X)
    assert capsys.readouterr().out.splitlines() == [
        "TapeTracer(f64[3], value=[0.3 0.7 1.1]) TapeTracer(f64[], value=0.3) True",
        "TapeTracer(f64[2], value=[0.3 0.7]) TapeTracer(f64[2,1], value=[[0.7] [1.1]])",
    ]
    seen: list[str] = []
    for transform in (funcgrad.vmap, funcgrad.make_jaxpr):
        transform(lambda x: seen.append(repr(x)) or x)(X)
    funcgrad.vmap(lambda x: seen.append(repr(funcgrad.stop_gradient(x) * 0 + 1)) or x)(X)
    funcgrad.jvp(funcgrad.grad(lambda x: seen.append(repr(x)) or x), (1.5,), (1.0,))
    funcgrad.grad(lambda x: seen.append(repr(x)) or x.sum())(np.arange(1000.0))
    assert seen == [
        "BatchTracer(f64[])",
        "JaxprTracer(f64[3])",
        "BatchTracer(f64[])",
        "TapeTracer(f64[], value=1.5)",
        "TapeTracer(f64[1000], value=[ 0. 1. ... 998. 999.])",
    ]


def test_a_view_is_printed_as_it_is_now() -> None:
    def f(x: Any) -> Any:
        z = fnp.zeros(3)
        row = z[1:]
        z[:] = x
        assert repr(row) == "TapeTracer(f64[2], value=[0.7 1.1])"
        return row.sum()

    assert funcgrad.grad(f)(X).tolist() == [0.0, 1.0, 1.0]


# ---------------------------------------------------------------- programs


def test_printed_with_sources_and_nested_programs() -> None:
    jaxpr = funcgrad.make_jaxpr(lambda x: funcgrad.checkpoint(np.sin)(x) + 1.0)(X)
    assert repr(jaxpr) == (
        "{ lambda ; a:f64[3] . let\n"
        "    b:f64[3] = checkpoint_call a\n"
        "      jaxpr =\n"
        "        { lambda ; c:f64[3] . let\n"
        "            d:f64[3] = sin c\n"
        "          in (d,) }\n"
        "    e:f64[3] = add b 1.0\n"
        "  in (e,) }"
    )
    assert "# test_api.py:" in jaxpr.pretty(source=True)


def test_check_jaxpr_finds_what_is_wrong() -> None:
    x, y = Var(Aval((3,), np.dtype(float))), Var(Aval((2,), np.dtype(float)))
    sin = REGISTRY["sin"]
    with pytest.raises(JaxprError, match=r"equation 0 \(sin\): has type f64\[2\], needs f64\[3\]"):
        funcgrad.check_jaxpr(Jaxpr([x], [Eqn(sin, [x], {}, [y])], [y]))
    with pytest.raises(JaxprError, match="used before it is bound"):
        funcgrad.check_jaxpr(Jaxpr([], [Eqn(sin, [x], {}, [Var(x.aval)])], []))
    with pytest.raises(JaxprError, match="bound twice"):
        funcgrad.check_jaxpr(Jaxpr([x], [Eqn(sin, [x], {}, [x])], [x]))


def test_eval_shape_computes_nothing() -> None:
    big = np.broadcast_to(0.0, (10**6, 10**6))
    assert repr(funcgrad.eval_shape(lambda x: {"y": x + fnp.ones(10**6)}, big)) == (
        "{'y': f64[1000000,1000000]}"
    )


def test_a_primitive_without_batch_rule_runs_in_a_loop_and_says_so_once() -> None:
    from funcgrad.algebra import linear

    @linear(lambda ct, _x: 3.0 * ct, aval=lambda x: x)
    def triple_without_batch_rule(xp, x, /):  # type: ignore[no-untyped-def]
        return 3.0 * x

    try:
        with pytest.warns(UserWarning, match="triple_without_batch_rule has no batch rule"):
            found = funcgrad.vmap(funcgrad.grad(triple_without_batch_rule))(X)
        assert found.tolist() == [3.0, 3.0, 3.0]
        with pytest.raises(MissingRuleError):
            triple_without_batch_rule.batch(3, (X,), (0,), {})
    finally:
        del REGISTRY["triple_without_batch_rule"]


# ---------------------------------------------------------------- the guided run


def test_guided_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--quick", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    for part in ("matmul", "forward mode", "eigenvalues", "Newton step", "held out 9"):
        assert part in printed
    for name in ("loss.svg", "jaxpr.svg"):
        assert ElementTree.parse(tmp_path / name).getroot().tag.endswith("svg")


def test_guided_run_refuses_nonsense(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    occupied = tmp_path / "file"
    occupied.touch()
    for arguments, text in (
        (["--epochs", "0"], "--epochs must be at least 1, found 0"),
        (["--seed", "-1"], "--seed must be at least 0, found -1"),
        (["--out", str(occupied)], f"--out: no directory can be made at {occupied}: File exists"),
    ):
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        assert caught.value.code == 2
        assert capsys.readouterr().err.rstrip().endswith(text)


def test_guided_run_may_be_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def press_control_c(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("funcgrad.__main__.train", press_control_c)
    assert main(["--quick", "--out", str(tmp_path)]) == 130
    assert capsys.readouterr().err == "\ninterrupted\n"


def test_guided_run_may_be_read_in_part(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "funcgrad", "--quick", "--out", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 141


def test_a_lasting_tape_copies_a_constant_once() -> None:
    weights = np.ones((500, 500))

    def f(x: Any) -> Any:
        for _ in range(50):
            x = x * weights
        return x.sum()

    tracemalloc.start()
    _, f_vjp = funcgrad.vjp(f, np.ones(500))
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 4 * weights.nbytes
    weights += 1.0  # writeable again, and no part of the tape
    assert f_vjp(1.0)[0].tolist() == [500.0] * 500


@funcgrad.custom_jvp
def twice(x: Any) -> Any:
    return 2 * x


@twice.defjvp
def _twice_jvp(primals: Any, tangents: Any) -> Any:
    return 2 * primals[0], 20 * tangents[0]  # tenfold, so that it is known to be in use


@functools.partial(funcgrad.custom_vjp, nondiff_argnums=(1,))
def scaled(x: Any, by: float) -> Any:
    return by * x


def _scaled_forward(x: Any, by: float) -> Any:
    return by * x, None


def _scaled_backward(by: float, residual: Any, ct: Any) -> Any:
    return (10 * by * ct,)


scaled.defvjp(_scaled_forward, _scaled_backward)


class Owner:
    @funcgrad.custom_jvp
    @staticmethod
    def twice(x: Any) -> Any:
        return 2 * x


Owner.twice.defjvp(_twice_jvp)
of_parts = funcgrad.custom_vjp(twice.f, nondiff_argnums=())  # its name leads to `twice`
of_parts.defvjp(lambda x: (2 * x, None), lambda residual, ct: (20 * ct,))


def plain_scale(x: Any, by: float) -> Any:
    return by * x


made = funcgrad.custom_vjp(plain_scale, nondiff_argnums=(1,))
made.defvjp(_scaled_forward, _scaled_backward)
made.note = "kept"

WITH_RULES: dict[str, Callable[[], Any]] = {
    "twice": lambda: twice,
    "scaled": lambda: scaled,
    "of a class": lambda: Owner.twice,
    "made": lambda: made,
}


@pytest.mark.parametrize("name", WITH_RULES)
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_functions_with_rules_are_copied_and_pickled_as_functions(name: str, protocol: int) -> None:
    """By their name, where that leads to them; otherwise as what they are made of."""
    f = WITH_RULES[name]()
    assert copy.copy(f) is f
    assert copy.deepcopy([f])[0] is f
    loaded = pickle.loads(pickle.dumps(f, protocol))
    assert (loaded is f) == (name != "made")
    args = (3.0, 2.0) if f.nondiff else (3.0,)
    assert float(loaded(*args)) == 6.0
    assert float(funcgrad.grad(loaded)(*args)) == 20.0
    assert getattr(loaded, "note", "") == getattr(f, "note", "")


def test_rules_without_a_name_are_not_pickled() -> None:
    with pytest.raises((pickle.PicklingError, AttributeError), match=r"lambda|same object"):
        pickle.dumps(of_parts)


# ---------------------------------------------------------------- arrays and their types


def test_what_is_an_array() -> None:
    """The same for what is traced as for what is not; `fnp.ndarray` is it, too."""
    seen: list[bool] = []

    def f(x: Any) -> Any:
        seen.append(isinstance(x, funcgrad.Array) and isinstance(np.sum(x), fnp.ndarray))
        return np.sum(x)

    x = np.ones(2)
    for g in (f, funcgrad.jit(f), funcgrad.grad(f), funcgrad.vmap(f)):
        g(x)
    assert seen == [True] * 4 and funcgrad.Array is fnp.ndarray
    assert not any(isinstance(y, fnp.ndarray) for y in (1.0, True, 2j, [1.0], None, "x", np.ones))
    assert issubclass(np.ndarray, funcgrad.Array) and not issubclass(list, funcgrad.Array)
    assert type(fnp.ndarray((2, 3), np.int32)) is np.ndarray


def test_arrays_like_a_type() -> None:
    like = funcgrad.eval_shape(lambda x: x[:, None] * x, np.ones(2, np.float32))
    for made, value in (
        (fnp.zeros_like(like), 0.0),
        (fnp.ones_like(like), 1.0),
        (fnp.full_like(like, 3.0), 3.0),
        (fnp.empty_like(like), 0.0),
    ):
        assert made.dtype == np.float32
        np.testing.assert_array_equal(made, np.full((2, 2), value))
    assert fnp.zeros_like(like, int, shape=3).tolist() == [0, 0, 0]


PRODUCTS: dict[str, Any] = {
    "dot": fnp.dot,
    "vdot": fnp.vdot,
    "inner": fnp.inner,
    "matmul": fnp.matmul,
    "tensordot": lambda x, y, **kw: fnp.tensordot(x, y, 1, **kw),
    "einsum": lambda x, y, **kw: fnp.einsum("i,i", x, y, **kw),
    "vecdot": fnp.vecdot,
    "convolve": lambda x, y, **kw: fnp.convolve(x, y, "valid", **kw)[0],
    "correlate": lambda x, y, **kw: fnp.correlate(x, y, **kw)[0],
    "linalg.vecdot": fnp.linalg.vecdot,
    "linalg.tensordot": lambda x, y, **kw: fnp.linalg.tensordot(x, y, axes=1, **kw),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_computed_in_another_dtype(name: str) -> None:
    """Of bytes, where the sum has no room in one; the options are JAX's."""
    x = np.full(4, 100, np.int8)
    found = PRODUCTS[name](x, x, preferred_element_type=np.int32, precision="highest")
    assert (found.dtype, int(found)) == (np.int32, 40000)
    slope = funcgrad.grad(lambda x: PRODUCTS[name](x, x, preferred_element_type=np.float64))
    np.testing.assert_allclose(slope(x.astype(np.float32)), 2.0 * x)
    if name in ("dot", "matmul"):
        out = np.zeros((), np.int32)
        PRODUCTS[name](x, x, out=out, preferred_element_type=np.int32)
        assert int(out) == 40000
