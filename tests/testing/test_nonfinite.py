"""`find_nonfinite` finds the classic traps, names the line, and proposes what repairs it."""

from __future__ import annotations

import inspect
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import funcgrad
from funcgrad.errors import ArgumentError
from funcgrad.scipy.special import (
    expit,
    log_expit,
    log_softmax,
    logsumexp,
    softmax,
    xlogy,
)
from funcgrad.testing import NonFinite, find_nonfinite

V = np.array([0.5, 1.2, 2.0])
M = np.array([[0.9, -0.4], [0.2, 1.1], [-0.3, 0.4]])
UNIT = ((0, 1),)
EPS = 1e-9


# ---------------------------------------------------------------- traps; the culprit's line ends in #!


def where_sqrt(x: Any) -> Any:
    root = np.sqrt(x)  #!
    return np.sum(np.where(x > 0, root, 0.0))


def where_sqrt_repaired(x: Any) -> Any:
    return np.sum(np.where(x > 0, np.sqrt(np.where(x > 0, x, 1.0)), 0.0))


def length(x: Any) -> Any:
    total = np.sum(x * x)
    return np.sqrt(total)  #!


def length_by_product(x: Any) -> Any:
    return (x @ x) ** 0.5  #!


def root_mean_square(x: Any) -> Any:
    return np.sqrt(np.mean(x**2))  #!


def root_of_square(x: Any) -> Any:
    return np.sum(np.sqrt(x**2))  #!


def two_sided_length(x: Any, y: Any) -> Any:
    return np.sum(np.sqrt(x**2 + np.square(y)))  #!


def root(x: Any) -> Any:
    return np.sqrt(x)  #!


def distances(x: Any) -> Any:
    d = x[:, None] - x[None]
    d2 = np.sum(d**2, axis=-1)
    return np.sum(np.sqrt(d2))  #!


def first_log_softmax(x: Any) -> Any:
    p = softmax(x)
    return -np.log(p)[0]  #!


def first_log_softmax_by_hand(x: Any) -> Any:
    e = np.exp(x - np.max(x))
    p = e / np.sum(e)
    return -np.log(p)[0]  #!


def softmax_by_hand(x: Any) -> Any:
    e = np.exp(x)  #!
    return np.sum((e / np.sum(e)) ** 2)


def deviation(x: Any) -> Any:
    mean = np.mean(x)
    return np.sqrt(np.mean((x - mean) ** 2))  #!


def deviation_of_sum(x: Any) -> Any:
    mean = np.sum(x) / 3
    return np.sqrt(np.sum((x - mean) ** 2) / 3)  #!


def root_of_var(x: Any) -> Any:
    return np.sqrt(np.var(x))  #!


def power(x: Any, y: Any) -> Any:
    return x**y  #!


def negative_power(x: Any) -> Any:
    return x**-1.5  #!


def square_root_of_negative(x: Any) -> Any:
    return x**0.5  #!


def softplus(x: Any) -> Any:
    e = np.exp(x)  #!
    return np.sum(np.log(1 + e))


def log_of_sum(x: Any) -> Any:
    return np.log(np.sum(np.exp(x)))  #!


def sigmoid(x: Any) -> Any:
    return np.sum(1 / (1 + np.exp(-x)))  #!


def other_sigmoid(x: Any) -> Any:
    e = np.exp(x)  #!
    return np.sum(e / (1 + e))


def hyperbolic_tangent(x: Any) -> Any:
    p = np.exp(x)  #!
    m = np.exp(-x)
    return np.sum((p - m) / (p + m))


def angle(x: Any) -> Any:
    return np.arccos(x)  #!


def angle_between(x: Any, y: Any) -> Any:
    cosine = np.dot(x, y) / np.linalg.norm(x) / np.linalg.norm(y)
    return np.arccos(cosine)  #!


def entropy(x: Any) -> Any:
    return -x * np.log(x)  #!


def entropy_guarded(x: Any) -> Any:
    logarithm = np.log(x)  #!
    return np.where(x > 0, -x * logarithm, 0.0)


def entropy_repaired(x: Any) -> Any:
    return -x * np.log(np.where(x > 0, x, 1.0))


def sinc(x: Any) -> Any:
    ratio = np.sin(x) / x  #!
    return np.sum(np.where(x == 0, 1.0, ratio))


def sinc_repaired(x: Any) -> Any:
    y = np.where(x == 0, 1.0, x)
    return np.sum(np.where(x == 0, 1.0, np.sin(y) / y))


def unit_vector(x: Any) -> Any:
    return np.sum(x / np.linalg.norm(x))  #!


def standardized(x: Any) -> Any:
    return np.sum((x - np.mean(x)) / np.sqrt(np.var(x)))  #!


def log_sigmoid(x: Any) -> Any:
    p = expit(x)
    return np.sum(np.log(p))  #!


def log_of_other(x: Any) -> Any:
    return np.sum(np.log(1 - expit(x)))  #!


def log_of_rest(x: Any) -> Any:
    return np.log(1 - x)  #!


def masked(x: Any) -> Any:
    mask = (x > 0).astype(float)
    return np.sum(mask * np.sqrt(x * mask))  #!


def orientation(a: Any) -> Any:
    vectors = np.linalg.eigh(a + a.T)[1]  #!
    return np.sum(np.abs(vectors))


class Trap(NamedTuple):
    f: Callable[..., Any]
    domain: tuple[Any, ...]
    kind: str
    primitive: str
    hint: str
    repaired: Callable[..., Any] | None = None


def summed(g: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *xs: np.sum(g(*xs))


TRAPS = [
    Trap(where_sqrt, (V,), "gradient", "sqrt", "strong_zeros=True", where_sqrt_repaired),
    Trap(length, (V,), "gradient", "sqrt", "np.linalg.norm", np.linalg.norm),
    Trap(length_by_product, (V,), "gradient", "power", "np.linalg.norm", np.linalg.norm),
    Trap(root_mean_square, (V,), "gradient", "sqrt", "np.sqrt(x.size)", np.linalg.norm),
    Trap(root_of_square, (V,), "gradient", "sqrt", "np.abs(x)", summed(np.abs)),
    Trap(two_sided_length, (V, V + 1), "gradient", "sqrt", "np.hypot(x, y)", summed(np.hypot)),
    Trap(root, ((0.0, 5.0),), "gradient", "sqrt", "x + eps", lambda x: np.sqrt(x + EPS)),
    Trap(distances, (M,), "gradient", "sqrt", "np.linalg.norm"),
    Trap(first_log_softmax, (V,), "gradient", "log", "log_softmax", lambda x: -log_softmax(x)[0]),
    Trap(first_log_softmax_by_hand, (V,), "gradient", "log", "log_softmax"),
    Trap(softmax_by_hand, (V,), "value", "exp", "softmax(x)", lambda x: np.sum(softmax(x) ** 2)),
    Trap(deviation, (V,), "gradient", "sqrt", "np.std(x)", np.std),
    Trap(deviation_of_sum, (V,), "gradient", "sqrt", "np.std(x)", np.std),
    Trap(root_of_var, (V,), "gradient", "sqrt", "np.std(x)", np.std),
    Trap(
        power,
        ((0.0, 2.0), (0.5, 0.9)),
        "gradient",
        "power",
        "infinite slope at 0",
        lambda x, y: (x + EPS) ** y,
    ),
    Trap(negative_power, ((0.0, 2.0),), "value", "power", "division by zero"),
    Trap(square_root_of_negative, ((-2.0, -1.0),), "value", "power", "np.abs(x)**y"),
    Trap(
        softplus,
        (V,),
        "value",
        "exp",
        "np.logaddexp(0, x)",
        summed(lambda x: np.logaddexp(0.0, x)),
    ),
    Trap(log_of_sum, (V,), "value", "exp", "logsumexp", logsumexp),
    Trap(sigmoid, (V,), "gradient", "exp", "expit", summed(expit)),
    Trap(other_sigmoid, (V,), "value", "exp", "expit", summed(expit)),
    Trap(hyperbolic_tangent, (V,), "value", "exp", "np.tanh", summed(np.tanh)),
    Trap(
        angle,
        ((-1, 1),),
        "gradient",
        "arccos",
        "np.clip",
        lambda x: np.arccos(np.clip(x, EPS - 1, 1 - EPS)),
    ),
    Trap(angle_between, (V, V + 1), "gradient", "arccos", "np.clip"),
    Trap(entropy, UNIT, "value", "log", "xlogy", entropy_repaired),
    Trap(entropy_guarded, UNIT, "gradient", "log", "xlogy", entropy_repaired),
    Trap(sinc, (V,), "gradient", "divide", "np.where(ok, f(np.where", sinc_repaired),
    Trap(unit_vector, (V,), "value", "divide", "no direction"),
    Trap(standardized, (V,), "value", "divide", "np.var(x) + eps"),
    Trap(log_of_other, (V,), "value", "log", "log_expit(-x)", summed(lambda x: log_expit(-x))),
    Trap(log_of_rest, UNIT, "value", "log", "log1p", lambda x: np.log1p(-np.minimum(x, 1 - EPS))),
    Trap(masked, (V,), "gradient", "sqrt", "zero times infinity"),
    Trap(orientation, (np.eye(3) + 0.1,), "gradient", "eigh", "equal eigenvalues"),
]


def marked_line(f: Any) -> int:
    """Where the trap says that its culprit is."""
    lines, start = inspect.getsourcelines(f)
    return start + next(i for i, line in enumerate(lines) if line.rstrip().endswith("#!"))


every_trap = pytest.mark.parametrize("trap", TRAPS, ids=lambda t: f"{t.f.__name__}-{t.kind}")


def non_finite(f: Any, args: Any, kind: str) -> bool:
    """Whether that is so, by `grad` itself."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        places = [i for i, x in enumerate(args) if isinstance(x, np.ndarray | np.floating)]
        value, found = funcgrad.value_and_grad(f, argnums=tuple(places))(*args)
    if kind == "value":
        return not np.isfinite(value)
    return bool(np.isfinite(value)) and not all(np.all(np.isfinite(g)) for g in found)


@every_trap
def test_trap_is_found_and_explained(trap: Trap) -> None:
    begin = time.perf_counter()
    found = find_nonfinite(trap.f, trap.domain)
    assert time.perf_counter() - begin < 5  # a second where nothing else runs
    assert found is not None
    assert (found.kind, found.primitive) == (trap.kind, trap.primitive), str(found)
    assert found.source == (__file__, marked_line(trap.f))
    assert found.line.endswith("#!")
    assert trap.hint in found.repair
    assert non_finite(trap.f, found.args, found.kind)
    for part in (found.line, found.repair, found.primitive, f":{found.source[1]}"):
        assert part in str(found)


repairable = [trap for trap in TRAPS if trap.repaired is not None]


@pytest.mark.parametrize("trap", repairable, ids=lambda t: f"{t.f.__name__}-{t.kind}")
def test_the_repair_repairs(trap: Trap) -> None:
    assert trap.repaired is not None
    assert find_nonfinite(trap.repaired, trap.domain) is None


SMOOTH: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (summed(np.sin), (V,)),
    (logsumexp, (V,)),
    (lambda x: softmax(x)[0], (V,)),
    (np.linalg.norm, (V,)),
    (lambda x: np.sum(np.linalg.norm(x, axis=-1)), (M,)),
    (summed(expit), (V,)),
    (summed(np.square), (V,)),
    (lambda w, x, b: np.sum(np.tanh(x @ w + b)), (np.ones(2), M, 0.5)),
    (lambda x: x**1.5, UNIT),
    (np.log, ((0.1, np.inf),)),
]


@pytest.mark.parametrize(("f", "domain"), SMOOTH)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_nothing_is_found_where_there_is_nothing(f: Any, domain: Any, dtype: Any) -> None:
    cast = tuple(x.astype(dtype) if isinstance(x, np.ndarray) else x for x in domain)
    assert find_nonfinite(f, cast) is None


# ---------------------------------------------------------------- what is found is simple


def test_the_input_is_simple() -> None:
    x = np.linspace(0.3, 7.0, 40).reshape(8, 5)
    found = find_nonfinite(where_sqrt, (x,))
    assert found is not None
    assert np.sum(found.args[0] != 1.0) == 1
    assert np.sum(found.args[0] == 0.0) == 1


def test_only_the_argument_that_matters_is_special() -> None:
    found = find_nonfinite(lambda x, y: length(x) + np.sum(y**2), (V, V))
    assert found is not None
    assert np.array_equal(found.args[0], np.zeros(3))
    assert np.array_equal(found.args[1], np.ones(3))


def test_an_untaken_branch_that_overflows_is_traced_to_its_origin() -> None:
    def f(x: Any) -> Any:
        logarithm = np.log(x)
        return np.sum(np.where(x > 0, x * logarithm, 0.0))

    found = find_nonfinite(f, (V,))
    assert found is not None
    assert found.primitive == "log"
    assert "multiply" in found.meets


# ---------------------------------------------------------------- domains


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_low_precision(dtype: Any) -> None:
    found = find_nonfinite(sigmoid, (V.astype(dtype),))
    assert found is not None
    assert found.args[0].dtype == dtype
    assert found.primitive == "exp"
    assert dtype.__name__ in str(found)


def test_complex() -> None:
    found = find_nonfinite(lambda z: np.sum(np.abs(np.sqrt(z))), (V + 1j,))
    assert found is not None
    assert found.primitive == "sqrt"


def test_trees_and_constants() -> None:
    def loss(params: Any, x: Any, labels: Any, scale: Any = 1.0) -> Any:
        scores = log_softmax(x @ params["w"] + params["b"], axis=-1)
        return scale * -np.mean(scores[np.arange(3), labels]) + np.sqrt(np.sum(params["w"] ** 2))

    params = {"w": np.ones((2, 4)), "b": 0.1}
    labels = np.array([0, 3, 1])
    found = find_nonfinite(loss, (params, M, labels), kwargs={"scale": 2.0})
    assert found is not None
    assert found.primitive == "sqrt"
    assert list(found.gradients) == ["params['w']"]
    assert set(found.args[0]) == {"w", "b"}
    assert np.array_equal(found.args[2], labels)
    assert np.all(params["w"] == 1)


def test_a_range_within_a_tree() -> None:
    found = find_nonfinite(lambda p: p["a"] / p["b"], ({"a": (1.0, 2.0), "b": (0.0, 3.0)},))
    assert found is not None
    assert (found.kind, found.primitive) == ("value", "divide")
    assert found.args[0]["b"] == 0


def test_strategies() -> None:
    positive = st.floats(0.0, 10.0, allow_subnormal=False)
    found = find_nonfinite(lambda x, y: np.sqrt(x) + y, (positive, V))
    assert found is not None
    assert found.args[0] == 0
    assert find_nonfinite(lambda x: np.sqrt(x), (st.floats(0.5, 10.0),)) is None
    arrays = npst.arrays(np.float64, (3,), elements=st.floats(-5, 5, allow_subnormal=False))
    assert find_nonfinite(length, (arrays,), tries=400) is not None


def test_what_is_found_stays_in_the_strategy() -> None:
    even = st.integers(-50, 50).map(lambda n: np.array([2.0 * n, 1.0, 2.0]))
    found = find_nonfinite(lambda x: np.sum(np.sqrt(np.abs(x - 4.0))), (even,))
    assert found is not None
    assert found.args[0].tolist() == [4.0, 1.0, 2.0]


def test_values_that_a_strategy_makes_not_finite() -> None:
    found = find_nonfinite(np.log, (st.floats(0.0, 1.0),))
    assert found is not None
    assert (found.kind, found.args[0]) == ("value", 0.0)


def test_overflow_of_huge_numbers_is_nobodys_fault() -> None:
    assert find_nonfinite(summed(np.square), (V,)) is None
    found = find_nonfinite(np.square, ((0.0, 1e300),))
    assert found is not None
    assert found.kind == "value"


# ---------------------------------------------------------------- the function


def test_a_sigmoid_that_underflows() -> None:
    found = find_nonfinite(log_sigmoid, (V,))
    assert found is not None
    assert found.primitive == "log"
    assert "log_expit(x)" in found.repair
    assert find_nonfinite(summed(log_expit), (V,)) is None


def test_a_checkpoint_hides_nothing() -> None:
    found = find_nonfinite(funcgrad.checkpoint(length), (V,))
    assert found is not None
    assert found.primitive == "sqrt"


def test_a_custom_rule_is_named() -> None:
    @funcgrad.custom_vjp
    def f(x: Any) -> Any:
        return np.sum(x)

    f.defvjp(lambda x: (np.sum(x), x), lambda x, ct: (ct / (x - x),))
    found = find_nonfinite(lambda x: f(x), (V,))
    assert found is not None
    assert found.primitive == "custom_call"


def test_branches_and_writes() -> None:
    def f(x: Any) -> Any:
        y = x.copy()
        y[0] = 0.0
        y *= 2
        if x[1] > 0.5:
            y[1] = np.sqrt(x[1] - 1.0) if x[1] >= 1 else 0.0
        return y

    found = find_nonfinite(f, (V,))
    assert found is not None
    assert found.primitive == "sqrt"
    assert found.args[0][1] == 1.0
    assert found.value[0].shape == (3,)


def test_inputs_that_the_function_refuses_are_passed_over() -> None:
    def f(x: Any) -> Any:
        if np.any(x < 0):
            raise ValueError("negative")
        return np.sum(np.sqrt(x))

    found = find_nonfinite(f, (V,))
    assert found is not None
    assert found.primitive == "sqrt"


def test_what_it_always_raises_is_raised() -> None:
    def f(x: Any) -> Any:
        raise ZeroDivisionError("always")

    with pytest.raises(ZeroDivisionError, match="always"):
        find_nonfinite(f, (V,), tries=5)


def test_what_its_gradient_always_raises_is_raised() -> None:
    @funcgrad.custom_vjp
    def f(x: Any) -> Any:
        return np.sum(x)

    def backward(x: Any, ct: Any) -> Any:
        raise ZeroDivisionError("no rule")

    f.defvjp(lambda x: (np.sum(x), x), backward)
    with pytest.raises(ZeroDivisionError, match="no rule"):
        find_nonfinite(lambda x: f(x), (V,), tries=5)


@pytest.mark.parametrize("f", [np.linalg.inv, np.linalg.slogdet])
def test_singular_matrices(f: Any) -> None:
    found = find_nonfinite(lambda a: f(a), (np.eye(3) + 0.1,))
    assert found is not None
    assert "singular" in found.repair


@pytest.mark.parametrize("domain", [V, (np.arange(3),), (), ((2.0, 1.0),)])
def test_domains_with_nothing_to_look_in(domain: Any) -> None:
    with pytest.raises(ArgumentError, match="find_nonfinite"):
        find_nonfinite(np.sum, domain)


# ---------------------------------------------------------------- the search


def late(x: Any) -> Any:
    """Singular where no special value is."""
    return np.sum(np.log(np.maximum(np.abs(x - 0.7) - 0.1, 0.0)))


@pytest.mark.parametrize("seed", [0, 1, 7])
def test_the_same_seed_gives_the_same(seed: int) -> None:
    runs = [find_nonfinite(late, (np.ones(2) * 3,), seed=seed) for _ in range(2)]
    assert runs[0] is not None
    assert runs[1] is not None
    assert str(runs[0]) == str(runs[1])


def test_without_hypothesis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    runs = [find_nonfinite(late, (np.ones(2) * 3,), seed=3) for _ in range(2)]
    assert isinstance(runs[0], NonFinite)
    assert str(runs[0]) == str(runs[1])
    assert find_nonfinite(summed(np.sin), (V,)) is None


@given(st.integers(1, 3))
@settings(max_examples=3)
def test_within_a_test_of_hypothesis(n: int) -> None:
    assert find_nonfinite(length, (np.ones(n),)) is not None
    assert find_nonfinite(late, (np.ones(n) * 3,)) is not None
    assert find_nonfinite(summed(np.sin), (np.ones(n),), tries=10) is None


def test_importing_does_not_import_hypothesis() -> None:
    code = "import sys, funcgrad.testing; print('hypothesis' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_nothing_is_printed_and_the_argument_is_kept(capfd: pytest.CaptureFixture[str]) -> None:
    x = V.copy()
    found = find_nonfinite(length, (x,))
    find_nonfinite(length, (st.floats(0.0, 1.0).map(lambda v: np.array([v, 0.0])),))
    assert capfd.readouterr() == ("", "")
    assert np.array_equal(x, V)
    assert repr(found) == "<NonFinite: gradient of length, made by sqrt>"


def test_the_way_to_xlogy_has_the_value_that_is_promised() -> None:
    assert float(xlogy(0.0, 0.0)) == 0.0
