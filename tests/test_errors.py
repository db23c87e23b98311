"""Golden texts: every mistake gives one clear error that ends in the user's own line."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import funcgrad
import funcgrad.numpy as fnp
from funcgrad import errors
from funcgrad.core import EVAL, REGISTRY, current


class Mistake(NamedTuple):
    name: str
    run: Callable[[], Any]
    error: type[Exception]
    text: str


X = np.ones(3)
OBJECTS = np.array([1.0, 2.0, 3.0], dtype=object)
MASKED = np.ma.masked_array([1.0, 2.0, 3.0], mask=[False, True, False])
with warnings.catch_warnings():
    warnings.simplefilter("ignore", PendingDeprecationWarning)
    MATRIX = np.matrix([[1.0, 2.0], [3.0, 4.0]])


def write_into_plain(x: Any) -> Any:
    z = np.zeros(3)
    z[0] = x[0]
    return z.sum()


def add_into_plain(x: Any) -> Any:
    z = np.zeros(3)
    z += x
    return z.sum()


def write_outside() -> Any:
    def outer(x: Any) -> Any:
        z = x * 1.0

        def inner(y: Any) -> Any:
            z[0] = y
            return y

        funcgrad.vmap(inner)(np.ones(2))
        return z.sum()

    return funcgrad.grad(outer)(X)


def escape() -> Any:
    kept: list[Any] = []
    funcgrad.grad(lambda x: kept.append(x) or x.sum())(X)
    return kept[0] * 2.0


def bad_bwd() -> Any:
    f = funcgrad.custom_vjp(lambda x, y: x * y)
    f.defvjp(lambda x, y: (x * y, None), lambda residual, ct: (ct,))
    return funcgrad.grad(f)(1.0, 2.0)


def bad_bwd_shape() -> Any:
    f = funcgrad.custom_vjp(lambda x: x.sum())
    f.defvjp(lambda x: (x.sum(), None), lambda residual, ct: (ct,))
    return funcgrad.grad(f)(X)


FLOAT = (
    "float(x), as in math.sin(x) or z[0] = x for a plain array z, would cut the derivative of the "
    "traced value TapeTracer(f64[]); use x itself, fnp.sin for math.sin, fnp.zeros(n) for an "
    "np.zeros(n) that is written into, funcgrad.scipy or a custom_rule for a function of SciPy's"
)

CONVERTED = (
    "np.array(x), storing x in a plain NumPy array or calling a function that converts its "
    "arguments (SciPy, np.random, np.full, np.vectorize) would cut the derivative of the traced "
    "value TapeTracer(f64[]); use fnp.array([...]) for np.array([...]) and np.asarray(x), "
    "fnp.zeros(n) for an np.zeros(n) that is written into; for such a function see funcgrad.scipy "
    "and fnp, or bring a rule with custom_rule"
)

MISTAKES = [
    Mistake(
        "vector output",
        lambda: funcgrad.grad(lambda x: x)(X),
        errors.NonScalarOutputError,
        "grad: the function must return one scalar, found f64[3]: sum or average it, or use jacrev "
        "or elementwise_grad",
    ),
    Mistake(
        "no output",
        lambda: funcgrad.grad(lambda x: None)(X),
        errors.NonScalarOutputError,
        "grad: the function returned None: is a `return` missing?",
    ),
    Mistake(
        "two outputs",
        lambda: funcgrad.grad(lambda x: (x.sum(), x))(X),
        errors.NonScalarOutputError,
        "grad: the function returned a tuple of 2; need one scalar: return the loss alone, or (loss, "
        "aux) with has_aux=True",
    ),
    Mistake(
        "value in place of a function",
        lambda: funcgrad.grad(np.sin(X).sum()),
        errors.ArgumentError,
        "grad: the first argument must be a function, found float64; write grad(f)(x), not "
        "grad(f(x))",
    ),
    Mistake(
        "no function in jvp",
        lambda: funcgrad.jvp((X,), np.sin, (X,)),
        errors.ArgumentError,
        "jvp: the first argument must be a function, found tuple",
    ),
    Mistake(
        "name in argnums",
        lambda: funcgrad.grad(np.sin, argnums="x"),
        errors.ArgumentError,
        "grad: argnums must be an int or several, found 'x'; positions go into argnums, names into "
        "argnames, arguments into grad(f)(...)",
    ),
    Mistake(
        "argument in argnums",
        lambda: funcgrad.hessian(np.sin, X),
        errors.ArgumentError,
        "hessian: argnums must be an int or several, found array([1., 1., 1.]); positions go into "
        "argnums, names into argnames, arguments into hessian(f)(...)",
    ),
    Mistake(
        "position in argnames",
        lambda: funcgrad.jacfwd(np.sin, argnames=["x", 1]),
        errors.ArgumentError,
        "jacfwd: argnames must be a name or several, found ['x', 1]; positions go into argnums, "
        "names into argnames, arguments into jacfwd(f)(...)",
    ),
    Mistake(
        "complex output",
        lambda: funcgrad.grad(lambda x: x * 1j)(2.0),
        errors.NonScalarOutputError,
        "grad: the function must return a real number, found c128[]: take the real part or the "
        "absolute value, or say holomorphic=True",
    ),
    Mistake(
        "integer array",
        lambda: funcgrad.grad(lambda p: p["w"][0].sum())({"w": [np.arange(3)]}),
        errors.ArgumentError,
        "grad: argument 0['w'][0] is i64[3]; need a floating or complex array: convert it with "
        ".astype(float)",
    ),
    Mistake(
        "leaf that is no array",
        lambda: funcgrad.grad(lambda x, mode: x, argnames="mode")(2.0, mode="fast"),
        errors.ArgumentError,
        "grad: argument mode is of type str; need an array or a number",
    ),
    Mistake(
        "matrix",
        lambda: funcgrad.grad(lambda p: (p[0] * p[0]).sum())([MATRIX]),
        errors.ArgumentError,
        "grad: argument 0[0] is a numpy.matrix; pass np.asarray(x)",
    ),
    Mistake(
        "mapped masked array",
        lambda: funcgrad.vmap(np.sin)(MASKED),
        errors.ArgumentError,
        "vmap: argument 0 is a masked array; pass np.asarray(x)",
    ),
    Mistake(
        "program of a masked array",
        lambda: funcgrad.make_jaxpr(lambda x, y: y)(X, y={"k": MASKED}),
        errors.ArgumentError,
        "make_jaxpr: argument y['k'] is a masked array; pass np.asarray(x)",
    ),
    Mistake(
        "matrix as a constant",
        lambda: funcgrad.grad(lambda x: (MATRIX * x).sum())(2.0),
        errors.ArgumentError,
        "multiply: operand 0 is a numpy.matrix; pass np.asarray(x)",
    ),
    Mistake(
        "masked array as a constant",
        lambda: funcgrad.grad(lambda x: x * fnp.mean(MASKED))(2.0),
        errors.ArgumentError,
        "expected an array, found a masked array; pass np.asarray(x)",
    ),
    Mistake(
        "masked output",
        lambda: funcgrad.jvp(lambda x: {"y": MASKED}, (1.0,), (1.0,)),
        errors.ArgumentError,
        "the function's output['y'] is a masked array; pass np.asarray(x)",
    ),
    Mistake(
        "argument that is not there",
        lambda: funcgrad.grad(lambda x: x, argnums=1)(2.0),
        errors.ArgumentError,
        "grad: argnums=1, but the call has 1 positional arguments",
    ),
    Mistake(
        "output that is no array",
        lambda: funcgrad.jvp(lambda x: "text", (1.0,), (1.0,)),
        errors.ArgumentError,
        "the function's output is of type str; need arrays or numbers",
    ),
    Mistake(
        "has_aux without aux",
        lambda: funcgrad.grad(lambda x: x, has_aux=True)(1.0),
        errors.ArgumentError,
        "has_aux=True: the function must return a pair (output, aux), found TapeTracer",
    ),
    Mistake(
        "shapes",
        lambda: funcgrad.grad(lambda x: (x + np.ones(4)).sum())(X),
        errors.ShapeError,
        "add: shapes [3] and [4] do not broadcast together",
    ),
    Mistake(
        "tangent of another shape",
        lambda: funcgrad.jvp(np.sin, (X,), (np.ones(2),)),
        errors.ShapeError,
        "jvp: tangent[0] has shape [2]; need the shape of the value it belongs to, [3]",
    ),
    Mistake(
        "tangents of another structure",
        lambda: funcgrad.jvp(np.sin, (X,), (X, X)),
        errors.ArgumentError,
        "jvp: tangents have the structure PyTreeDef((*, *)), primals PyTreeDef((*,))",
    ),
    Mistake(
        "tangents that are no tuple",
        lambda: funcgrad.jvp(np.sin, X, X),
        errors.ArgumentError,
        "jvp: primals must be a tuple, one entry per argument of the function; found ndarray",
    ),
    Mistake(
        "vectors that are no tuple",
        lambda: funcgrad.hvp(np.sum, X, X),
        errors.ArgumentError,
        "hvp: primals must be a tuple, one entry per argument of the function; found ndarray",
    ),
    Mistake(
        "cotangent of another shape",
        lambda: funcgrad.vjp(np.sin, X)[1](1.0),
        errors.ShapeError,
        "vjp: cotangent has shape []; need the shape of the value it belongs to, [3]",
    ),
    Mistake(
        "plain array written into",
        lambda: funcgrad.grad(write_into_plain)(X),
        errors.HandoverError,
        FLOAT,
    ),
    Mistake(
        "plain array added into",
        lambda: funcgrad.grad(add_into_plain)(X),
        errors.HandoverError,
        "np.add with out=, or an in-place operator such as +=, would store a traced value in a plain "
        "NumPy array; make the array with fnp.zeros(...) instead of np.zeros(...), or write "
        "z = z + x instead of z += x",
    ),
    Mistake(
        "np.array of traced values",
        lambda: funcgrad.grad(lambda x: np.array([x[0], x[1]]).sum())(X),
        errors.HandoverError,
        CONVERTED,
    ),
    Mistake(
        "np.full of a traced value",
        lambda: funcgrad.grad(lambda x: np.full(3, x[0]).sum())(X),
        errors.HandoverError,
        CONVERTED,
    ),
    Mistake(
        "np.random of a traced value",
        lambda: funcgrad.grad(lambda x: np.random.default_rng(0).normal(x[0]))(X),
        errors.HandoverError,
        CONVERTED,
    ),
    Mistake(
        "np.vectorize",
        lambda: funcgrad.grad(lambda x: np.vectorize(math.sqrt)(x[0]).sum())(X),
        errors.HandoverError,
        CONVERTED,
    ),
    Mistake(
        "math.sin", lambda: funcgrad.grad(lambda x: math.sin(x))(1.0), errors.HandoverError, FLOAT
    ),
    Mistake(
        "escaped tracer",
        escape,
        errors.EscapedTracerError,
        "multiply: the traced value TapeTracer(f64[3]) is used outside the function '<lambda>' "
        "(test_errors.py:NN) that grad or vjp was tracing. It was kept in a global, an attribute or a "
        "container, or a custom rule closes over it; return it from the function (or through "
        "has_aux=True), or pass it as an argument",
    ),
    Mistake(
        "inner value written outside",
        write_outside,
        errors.MutationError,
        "a value that an inner transform traces, BatchTracer(f64[3]), is written into an array of "
        "values from outside, TapeTracer(f64[3]); fill an array that fnp.zeros(...) made inside, or "
        "return the value",
    ),
    Mistake(
        "branch under vmap",
        lambda: funcgrad.vmap(lambda x: x if x > 0 else -x)(X),
        errors.ConcretizationError,
        "bool() of a traced value BatchTracer(bool[]), which has no number here: under vmap it stands "
        "for every example, under jit and make_jaxpr for every array of its type. Use fnp.where or "
        "funcgrad.lax.cond, or keep what decides the branch out of the traced arguments (jit: "
        "static_argnums)",
    ),
    Mistake(
        "mapped axes of two lengths",
        lambda: funcgrad.vmap(lambda x, y: x)(X, np.ones(4)),
        errors.ShapeError,
        "vmap: mapped axes differ in length: argument 0 has 3 along axis 0, argument 1 has 4 along "
        "axis 0",
    ),
    Mistake(
        "axis that does not exist",
        lambda: funcgrad.vmap(np.sin, in_axes=1)(X),
        errors.ShapeError,
        "vmap: argument 0 has no axis 1: it is f64[3]; give in_axes that exist, or None for what is "
        "not mapped",
    ),
    Mistake(
        "in_axes of another structure",
        lambda: funcgrad.vmap(np.sin, in_axes=(0, 0))(X),
        errors.ShapeError,
        "vmap in_axes does not fit at the top: found a tuple of length 2, but needed a tuple of "
        "length 1 or one entry for all of it",
    ),
    Mistake(
        "nothing mapped",
        lambda: funcgrad.vmap(np.sin, in_axes=None)(X),
        errors.ArgumentError,
        "vmap: nothing is mapped: every in_axes is None and axis_size is not given",
    ),
    Mistake(
        "unhashable parameter",
        lambda: funcgrad.make_jaxpr(lambda x: REGISTRY["sum"](x, axis=[0]))(X),
        errors.UnhashableParameterError,
        "sum: parameter axis=[0] is not hashable, so the program that holds it could not be compared; "
        "pass a tuple instead of a list",
    ),
    Mistake(
        "not linear",
        lambda: funcgrad.linear_transpose(np.sin, X)(X),
        errors.NotLinearError,
        "linear_transpose: the function is not linear in its arguments: it applies sin to them",
    ),
    Mistake(
        "affine",
        lambda: funcgrad.linear_transpose(lambda x: x + 1.0, X)(X),
        errors.NotLinearError,
        "linear_transpose: the function is affine, not linear: it adds a constant",
    ),
    Mistake(
        "bwd of another length",
        bad_bwd,
        errors.RuleError,
        "<lambda>: its bwd rule must return a tuple of 2 cotangents, one per differentiable argument; "
        "found 1 values",
    ),
    Mistake(
        "bwd of another shape",
        bad_bwd_shape,
        errors.RuleError,
        "<lambda>: its bwd rule returned f64[] for argument 0, which is f64[3]",
    ),
    Mistake(
        "no rule",
        lambda: funcgrad.custom_jvp(np.sin)(1.0),
        errors.MissingRuleError,
        "sin: no rule; give one with defjvp",
    ),
    Mistake(
        "objects",
        lambda: funcgrad.grad(lambda x: np.sum(x.astype(object)))(X),
        errors.HandoverError,
        "dtype=object would cut the derivative of f64[3]: it holds Python's numbers; leave it out, or "
        "keep traced values in a list",
    ),
    Mistake(
        "objects by another name",
        lambda: funcgrad.grad(lambda x: np.sum(x, dtype=object))(X),
        errors.HandoverError,
        "dtype=object would cut the derivative of f64[3]: it holds Python's numbers; leave it out, or "
        "keep traced values in a list",
    ),
    Mistake(
        "objects in a program",
        lambda: funcgrad.jit(lambda x: x * OBJECTS)(X),
        errors.OperandError,
        "a program computes with object[3], an array of Python objects; need one of numbers: convert "
        "it with .astype(float)",
    ),
    Mistake(
        "function without counterpart",
        lambda: funcgrad.grad(lambda x: np.shares_memory(x, x))(X),
        errors.HandoverError,
        "np.shares_memory is not supported on traced values; it has no counterpart in funcgrad.numpy. "
        "Rewrite it with functions that have one, or wrap it with funcgrad.custom_rule",
    ),
    Mistake(
        "float written into integers",
        lambda: funcgrad.grad(lambda x: fnp.zeros(2, dtype=int).__setitem__(0, x) or x)(1.0),
        errors.MutationError,
        "a value of dtype float64 is written into an array of dtype int64, which would cut the "
        "derivative: make the array float64 from the start, or convert the value yourself",
    ),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=[m.name for m in MISTAKES])
def test_text(mistake: Mistake) -> None:
    with pytest.raises(mistake.error) as caught:
        mistake.run()
    text, _, line = str(caught.value).rpartition(" (at ")
    assert line.startswith("test_errors.py:"), f"the user's line is missing: {line}"
    text = "".join(
        "test_errors.py:NN" + part.lstrip("0123456789") if i else part
        for i, part in enumerate(text.split("test_errors.py:"))
    )
    assert text == mistake.text
    assert current.get() is EVAL


NO_FUNCTION = ["checkpoint", "custom_jvp", "custom_vjp", "custom_rule", "elementwise_grad", "grad"]
NO_FUNCTION += ["hessian", "jacfwd", "jacrev", "make_jaxpr", "value_and_grad", "vmap"]
NO_FUNCTION += ["eval_shape", "hvp", "jvp", "linear_transpose", "linearize", "vjp"]


@pytest.mark.parametrize("name", NO_FUNCTION)
def test_no_transform_is_made_of_a_value(name: str) -> None:
    more = ((X,), (X,)) if name in ("hvp", "jvp") else ()
    with pytest.raises(errors.ArgumentError, match="must be a function, found ndarray"):
        getattr(funcgrad, name)(X, *more)


PLAIN: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "r_": (lambda x: np.r_[x[0], x[1]].sum(), lambda x: np.hstack([x[0], x[1]]).sum()),
    "sum": (lambda x: np.sum([x[0], x[1]]), lambda x: fnp.sum([x[0], x[1]])),
    "norm": (lambda x: np.linalg.norm([x[0], x[1]]), lambda x: fnp.linalg.norm([x[0], x[1]])),
    "full": (lambda x: np.full(3, x[0]).sum(), lambda x: fnp.full(3, x[0]).sum()),
    "array": (lambda x: np.array([x[0], x[1]]).sum(), lambda x: np.stack([x[0], x[1]]).sum()),
}


@pytest.mark.parametrize("name", PLAIN)
def test_where_numpy_asks_nobody(name: str) -> None:
    refused, instead = PLAIN[name]
    with pytest.raises(errors.HandoverError, match=r"use fnp.array\(\[...\]\) for np.array"):
        funcgrad.grad(refused)(X)
    assert funcgrad.grad(instead)(X)[0] > 0.0


def test_a_long_line_of_the_users_is_cut(tmp_path: Path) -> None:
    line = f"funcgrad.grad(lambda x: x)(X), {list(range(100))}"
    file = tmp_path / "model.py"
    file.write_text(line)
    with pytest.raises(errors.NonScalarOutputError) as caught:
        exec(compile(line, str(file), "exec"), {"funcgrad": funcgrad, "X": X})
    assert str(caught.value).endswith(f" (at model.py:1: {line[:100]}...)")


def test_what_compiled_code_wraps_is_unwrapped() -> None:
    """As Python does where compiled code goes on with an error pending; `brentq` of SciPy's does."""

    def compiled(x: Any) -> Any:
        try:
            return float(x)
        except errors.HandoverError as error:
            raise SystemError("a function returned a result with an exception set") from error

    with pytest.raises(errors.HandoverError, match="would cut the derivative"):
        funcgrad.grad(lambda x: compiled(x[0]))(X)


def test_every_exception_is_a_funcgrad_error_and_documented() -> None:
    for name, value in vars(errors).items():
        if isinstance(value, type) and issubclass(value, Exception):
            assert issubclass(value, errors.FuncgradError)
            assert value.__doc__, name


def test_read_only_array_explains_itself() -> None:
    buffer = np.ones(3)

    def f(x: Any) -> Any:
        y = (x * buffer).sum()
        buffer[0] = 2.0
        return y

    with pytest.raises(ValueError, match="read-only") as caught:
        funcgrad.grad(f)(X)
    assert "needs its value again" in caught.value.__notes__[0]
    buffer[0] = 2.0  # writeable again afterwards


def test_the_function_of_scipys_that_is_named_is_the_one_with_the_value() -> None:
    """Not the one that called us."""
    optimize = pytest.importorskip("scipy.optimize")
    with pytest.raises(errors.HandoverError, match=r"^scipy\.optimize\.rosen, which"):
        optimize.minimize(optimize.rosen, X, jac=funcgrad.grad(optimize.rosen))
    stats = pytest.importorskip("scipy.stats")
    with pytest.raises(errors.HandoverError, match=r"^scipy\.stats\.norm\.logpdf, which"):
        optimize.minimize(lambda x: 0.0, X, jac=funcgrad.grad(lambda x: stats.norm.logpdf(x).sum()))


def test_functions_of_scipys_inner_packages_are_named() -> None:
    """Ours is named where we have one."""
    distance = pytest.importorskip("scipy.spatial.distance")
    for f, says in (
        (lambda x: distance.cosine(x, X), "use funcgrad.scipy.spatial.distance.cosine"),
        (lambda x: distance.directed_hausdorff(x[None], X[None])[0], "bring a rule"),
    ):
        with pytest.raises(errors.HandoverError, match=r"^scipy\.spatial\.distance\..*" + says):
            funcgrad.grad(f)(X)


def test_functions_of_polynomials_are_named() -> None:
    says = (
        r"^np\.polynomial\.polynomial\.polyval, .* funcgrad\.numpy\.polynomial\.polynomial\.polyval"
    )
    with pytest.raises(errors.HandoverError, match=says):
        funcgrad.grad(lambda c: np.polynomial.polynomial.polyval(0.3, c))(X)
    with pytest.raises(errors.HandoverError, match=r"^a class .*use funcgrad\.numpy\.polynomial's"):
        funcgrad.grad(lambda c: np.polynomial.Polynomial(c)(0.3))(X)
