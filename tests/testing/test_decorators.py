"""`given_gradients`: what it draws, what it says, which settings it runs under."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

import funcgrad
from funcgrad import tree
from funcgrad.errors import ArgumentError
from funcgrad.testing import GradientError, cases, decorators, given_gradients
from funcgrad.testing.cases import Case, Plan, literal
from funcgrad.testing.strategies import arrays, positive


@funcgrad.custom_jvp
def half_sine(x: Any) -> Any:
    return np.sin(x)


@half_sine.defjvp
def half_sine_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    return half_sine(x), t * np.cos(x) / 2


class Point(NamedTuple):
    x: Any
    y: Any


@tree.register_node_class
class Box:
    def __init__(self, x: Any) -> None:
        self.x = x

    def tree_flatten(self) -> Any:
        return (self.x,), None

    @classmethod
    def tree_unflatten(cls, aux: Any, children: Any) -> Box:
        return cls(*children)


@dataclasses.dataclass
class Layer:
    w: Any
    b: Any


def failure(test: Callable[..., None], *args: Any, **kwargs: Any) -> GradientError:
    with pytest.raises(GradientError) as caught:
        test(*args, **kwargs)
    return caught.value


def snippet(error: BaseException) -> str:
    """The program in the notes of an error."""
    (note,) = [note for note in error.__notes__ if note.startswith("To see it again")]
    return note.partition("\n\n")[2]


def seen(monkeypatch: pytest.MonkeyPatch, make: Callable[[], Callable[..., None]]) -> list[Case]:
    """The cases that a test looks at, without looking at them."""
    found: list[Case] = []
    with monkeypatch.context() as patch:
        patch.setattr(decorators, "check", lambda case, plan: found.append(case))
        make()()
    return found


# ---------------------------------------------------------------- right derivatives


@given_gradients(x=arrays(3, domain=positive()), y=arrays(3, domain=positive()))
def test_entropy(x: Any, y: Any) -> Any:
    return np.sum(x * np.log(x / y))


@given_gradients(np.zeros((2, 3)), np.ones(3))
def test_examples(x: Any, y: Any) -> Any:
    return np.exp(x) / np.sqrt(y)


@given_gradients({"w": np.zeros((2, 3)), "b": 1.0}, [np.zeros(3), 2], mode=st.just("half"))
def test_trees(params: Any, x: Any, *, mode: str) -> Any:
    assert mode == "half"
    return {"out": np.sin(params["w"] @ x[0] + params["b"]) / x[1]}


@given_gradients(layer=Layer(np.zeros(2), np.float32(0.5)), point=Point(1.0, 2))
def test_classes(layer: Layer, point: Point) -> Any:
    return layer.w * point.x**point.y + layer.b


@given_gradients(x=np.zeros(3, np.float32), scale=np.float32(0.5), only=["types", "numerical"])
def test_float32(x: Any, *, scale: Any) -> Any:
    return np.sin(x) * scale


@given_gradients(np.zeros(2, complex), max_examples=10)
def test_complex(z: Any) -> Any:
    return z * np.exp(z)


@given_gradients(np.zeros(3), np.zeros(3), scale=0.5)
def test_any_number_of_arguments(*xs: Any, **options: Any) -> Any:
    return sum(x * x for x in xs) * options["scale"]


@given_gradients(x=np.zeros(3), order=4, max_examples=5)
def test_higher_orders(x: Any) -> Any:
    return np.sin(x) * x


@given_gradients(x=st.just(np.zeros(3)), expect_kink=True)
def test_at_a_kink(x: Any) -> Any:
    return np.abs(x)


@given_gradients(x=np.zeros(3), max_examples=100)
def test_kinks_on_the_way_are_no_mistake(x: Any) -> Any:
    return np.maximum(np.abs(x), 1.0)


@given_gradients(x=np.zeros(2))
def test_where_it_is_not_finite_it_is_not_looked_at(x: Any) -> Any:
    return np.log(x)


@pytest.fixture
def factor() -> Any:
    return np.array([2.0, 3.0])


@pytest.mark.parametrize("power", [1, 2])
@given_gradients(x=np.zeros(2))
def test_fixtures_and_parameters_are_constants(power: int, x: Any, factor: Any) -> Any:
    assert power in (1, 2)
    assert type(factor) is np.ndarray
    return factor * x**power


class TestMethods:
    @given_gradients(np.zeros(2))
    def test_of_a_class(self, x: Any) -> Any:
        assert isinstance(self, TestMethods)
        return np.sin(x)


# ---------------------------------------------------------------- wrong derivatives


@given_gradients(x=np.zeros(2), order=2, only=["types", "numerical"])
def wrong(x: Any) -> Any:
    return half_sine(x)


@given_gradients(p={"x": np.zeros((2, 1), np.float32), "n": 3}, z=np.zeros(2, complex))
def wrong_tree(p: Any, *, z: Any) -> Any:
    return half_sine(p["x"]) * p["n"] + z


@given_gradients(x=np.zeros(2), only=["numerical"])
def wrong_beside_a_constant(axis: int, x: Any) -> Any:
    return np.sum(half_sine(x), axis=axis)


class Methods:
    @given_gradients(np.zeros(2))
    def wrong(self, x: Any) -> Any:
        return half_sine(x)


@given_gradients(x=np.zeros(2), order=3)
def wrong_in_third_order(x: Any) -> Any:
    return third(x)


@funcgrad.custom_jvp
def third(x: Any) -> Any:
    return x**3


@third.defjvp
def third_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    return third(x), t * 3 * x * (2 * x - funcgrad.stop_gradient(x) * 1.0)


def test_a_wrong_rule_is_shown() -> None:
    error = failure(wrong)
    assert str(error).startswith("gradients of wrong: WRONG\n  numerical  failed: ")
    assert "a factor 2 is missing" in str(error)
    assert "passed" not in str(error)
    assert "types      passed" in str(error.report)  # type: ignore[attr-defined]
    assert snippet(error) == (
        "import numpy as np\n"
        "from funcgrad.testing import check_all\n"
        f"from {__name__} import wrong\n\n"
        "x = np.array([1.0, 1.0])\n"
        "check_all(wrong.function, (x,), only=['types', 'numerical']).raise_if_failed()\n"
    )


@pytest.mark.parametrize(
    ("test", "kwargs"),
    [
        (wrong, {}),
        (wrong_tree, {}),
        (wrong_beside_a_constant, {"axis": 0}),
        (Methods().wrong, {}),
        (wrong_in_third_order, {}),
    ],
    ids=["array", "tree", "constant", "method", "third order"],
)
def test_the_snippet_fails_alike(test: Any, kwargs: Any) -> None:
    error = failure(test, **kwargs)
    again = failure(lambda: exec(snippet(error), {}))
    failed = [line for line in str(error).splitlines() if " failed: " in line]
    assert failed
    if "higher orders" not in failed[0]:
        assert failed[0].split() == next(
            line.split() for line in str(again).splitlines() if " failed: " in line
        )


def test_no_kink_where_one_is_expected() -> None:
    @given_gradients(np.ones(2), expect_kink=True)
    def smooth(x: Any) -> Any:
        return np.sin(x)

    error = failure(smooth)
    assert "at a kink  failed: no operation is at a kink here" in str(error)
    assert "expect_kink=True" in snippet(error)
    assert f"# f: {smooth.function.__qualname__}, {__file__}:" in snippet(error)  # type: ignore[attr-defined]


def test_what_the_function_raises_comes_through() -> None:
    @given_gradients(x=np.zeros(2))
    def strict(x: Any) -> Any:
        if np.any(x < 0):
            raise ValueError("negative")
        return x

    with pytest.raises(ValueError, match="negative") as caught:
        strict()
    assert "-1.0" in snippet(caught.value)


def test_what_the_function_writes_is_not_shown() -> None:
    @given_gradients(x=st.just(np.ones(2)))
    def writes(x: Any) -> Any:
        x[0] += 1.0
        return x * x

    error = failure(writes)
    assert "deterministic  failed" in str(error)
    assert "np.array([1.0, 1.0])" in snippet(error)


def test_a_forgotten_return_is_an_error() -> None:
    @given_gradients(np.zeros(2))
    def forgot(x: Any) -> Any:
        np.sin(x)

    with pytest.raises(ArgumentError, match=r"forgot returns no floating .* return missing"):
        forgot()


def test_finite_nowhere_is_an_error() -> None:
    @given_gradients(np.zeros(2))
    def nowhere(x: Any) -> Any:
        return np.log(-1.0 - x * x)

    with pytest.raises(hypothesis.errors.Unsatisfiable):
        nowhere()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: given_gradients(np.ones(2), np.ones(2)), "2 examples for the 1 parameters"),
        (lambda: given_gradients(np.ones(2), x=np.ones(2)), "two examples for 'x'"),
        (lambda: given_gradients(y=np.ones(2)), "no parameter is called 'y'"),
        (lambda: given_gradients(), "need a strategy or an example"),
        (lambda: given_gradients(np.ones(2), order=0), "order=0"),
        (lambda: given_gradients(np.ones(2), only=["numeric"]), "no check 'numeric'"),
        (lambda: given_gradients(np.ones(2), only=[]), "names no check"),
    ],
)
def test_misuse(make: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        make()(lambda x: x)


def test_without_parentheses() -> None:
    with pytest.raises(ArgumentError, match=r"@given_gradients\(x="):
        given_gradients(wrong_tree)(np.ones(2))  # type: ignore[arg-type]


# ---------------------------------------------------------------- what is drawn


@pytest.mark.parametrize(
    ("example", "low", "high"),
    [
        (np.zeros(3), -3.0, 3.0),
        (np.full((2, 2), 0.5, np.float32), 0.05, 0.95),
        (np.ones(()), 0.1, 4.0),
        (np.array([-10.0, 5.0]), -30.0, 30.0),
        (np.array([1.0, np.inf]), 0.1, 4.0),
        (2.0, 0.1, 8.0),
        (np.float32(-1.0), -3.0, 3.0),
        (np.zeros((0, 2)), -3.0, 3.0),
    ],
)
def test_the_domain_of_an_example(
    example: Any, low: float, high: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = seen(monkeypatch, lambda: given_gradients(example)(lambda x: x))
    values = [case.args[0] for case in found]
    assert {type(x) for x in values} == {type(example)}
    assert {np.shape(x) for x in values} == {np.shape(example)}
    assert {np.asarray(x).dtype for x in values} == {np.asarray(example).dtype}
    elements = np.concatenate([np.ravel(x) for x in values])
    assert np.all((elements >= low) & (elements <= high))
    assert np.unique(elements).size > 5 or not elements.size


def test_what_is_no_number_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    index = np.array([0, 2])
    case, *_ = seen(monkeypatch, lambda: given_gradients((index, "a", 3, None))(lambda x: x))
    np.testing.assert_array_equal(case.args[0][0], index)
    assert case.args[0][1:] == ("a", 3, None)


# ---------------------------------------------------------------- settings


@pytest.mark.parametrize(("name", "count"), [("dev", 20), ("ci", 50), ("nightly", 500), ("", 20)])
def test_profiles(name: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUNCGRAD_PROFILE", name)
    before = hypothesis.settings.default
    found = seen(monkeypatch, lambda: given_gradients(np.zeros(9))(lambda x: x))
    assert len(found) == count
    assert hypothesis.settings.default == before


def test_an_unknown_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUNCGRAD_PROFILE", "weekly")
    with pytest.raises(ArgumentError, match="FUNCGRAD_PROFILE='weekly'; need one of"):
        given_gradients(np.zeros(2))


@pytest.mark.parametrize("profile", ["dev", "nightly"])
def test_seed_and_max_examples(profile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUNCGRAD_PROFILE", profile)

    def cases_of(**options: Any) -> list[str]:
        found = seen(monkeypatch, lambda: given_gradients(np.zeros(9), **options)(lambda x: x))
        assert len(found) == 7
        return [repr(case[1:]) for case in found]

    first = cases_of(seed=3, max_examples=7)
    assert cases_of(seed=3, max_examples=7) == first
    assert cases_of(seed=4, max_examples=7) != first
    assert cases_of(max_examples=7) != cases_of(max_examples=7)


def test_ci_tries_the_same_in_every_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUNCGRAD_PROFILE", "ci")

    def f(x: Any) -> Any:
        return x

    runs = [seen(monkeypatch, lambda: given_gradients(np.zeros(9))(f)) for _ in range(2)]
    assert len({repr([case[1:] for case in run]) for run in runs}) == 1


# ---------------------------------------------------------------- literals

VALUES = [
    np.array([0.1, -0.0, np.nan, np.inf, -np.inf, 5e-324]),
    np.array([[1 / 3, 1e30]], np.float32),
    np.array([0.1], np.float16),
    np.array([0.1 + 0.2j, complex(-0.0, -0.0), complex(0.5, -0.0), complex(np.nan, -np.inf)]),
    np.array([1 / 3 + 2j, -1 - 1e-9j], np.complex64),
    np.array(2.5),
    np.zeros((0, 3)),
    np.zeros((2, 0), np.float32),
    np.arange(100.0).reshape(4, 25) / 7,
    np.array([1, -2]),
    np.array([1, 2], np.uint8),
    np.array([True, False]),
    np.array(["a", "b'"]),
    np.float32(1 / 3),
    np.float64(-0.0),
    np.complex64(0.1 - 2j),
    np.longdouble(1) / 3,
    np.array([np.longdouble(1) / 3]),
    np.int8(3),
    np.bool_(True),
    0.1,
    float("inf"),
    complex(-0.0, 1.0),
    3,
    None,
    "text",
    {"a": [1.0, (2.0,)], 3: ()},
    slice(1, None),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda v: literal(v)[:30])
def test_literals_are_exact(value: Any) -> None:
    again = eval(literal(value), {"np": np})
    assert type(again) is type(value)
    if isinstance(value, np.ndarray | np.generic):
        assert (again.dtype, again.shape) == (value.dtype, value.shape)
        assert literal(again) == literal(value)
        np.testing.assert_array_equal(again, value)
        if value.dtype.kind in "fc":
            np.testing.assert_array_equal(np.signbit(again.real), np.signbit(value.real))
            np.testing.assert_array_equal(np.signbit(again.imag), np.signbit(value.imag))
    else:
        assert repr(again) == repr(value)


def test_classes_and_functions_in_a_snippet_are_imported() -> None:
    case = Case(
        np.linalg.det, (Point(1.0, Layer(np.zeros(1), len)), np.sin, half_sine_jvp), {}, {}, 0
    )
    program = case.snippet(Plan())
    assert f"from {__name__} import Layer" in program
    assert f"from {__name__} import Point" in program
    assert f"from {__name__} import half_sine_jvp" in program
    assert "Point(x=1.0, y=Layer(w=np.array([0.0]), b=len))" in program
    assert "x1 = np.sin" in program
    assert "check_all(np.linalg.det, (a, x1, x2))" in program


def test_names_in_a_snippet_hide_nothing() -> None:
    case = Case(lambda np, check_all: np, (1.0, 2.0), {}, {}, 0)
    program = case.snippet(Plan(order=3))
    assert "np_ = 1.0\ncheck_all_ = 2.0\n" in program
    assert "check_grads(f, (np_, check_all_), order=3)" in program


def test_long_arrays_have_a_row_per_line() -> None:
    text = literal(np.arange(60.0).reshape(3, 20))
    assert len(text.splitlines()) == 3
    assert len(text) > cases.WIDTH


# ---------------------------------------------------------------- Hypothesis is optional


def test_importing_the_kit_does_not_import_hypothesis() -> None:
    program = "import sys, funcgrad.testing; print('hypothesis' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("False\n", "")


def test_without_hypothesis_there_is_a_clear_error() -> None:
    program = (
        "import sys\nsys.modules['hypothesis'] = None\nfrom funcgrad.testing import check_all\n"
        "from funcgrad.testing import given_gradients"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "needs Hypothesis" in done.stderr or "Hypothesis, which is not" in done.stderr
    assert "pip install hypothesis" in done.stderr
    assert "line 4, in <module>" in done.stderr


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'given_gradient'"):
        funcgrad.testing.given_gradient  # type: ignore[attr-defined]  # noqa: B018
