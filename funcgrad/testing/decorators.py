"""`given_gradients`: a test of gradients from the function to differentiate and where to do so.

Layer 5; needs Hypothesis.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .. import tree
from ..errors import ArgumentError
from .cases import TESTED, Case, Plan, split
from .report import GradientError, Report
from .subject import Subject

try:
    import hypothesis
    from hypothesis import strategies as st
    from hypothesis.strategies import SearchStrategy
except ImportError as error:
    raise ImportError(
        "given_gradients draws arguments by Hypothesis, which is not installed: "
        "pip install hypothesis, or pip install funcgrad[test]"
    ) from error

from . import strategies as fs

# What the profiles ask of Hypothesis; everything else is as the user's own profile has it.
PROFILES: dict[str, dict[str, Any]] = {
    "dev": {"max_examples": 20, "derandomize": False},
    "ci": {"max_examples": 50, "derandomize": True, "database": None},
    "nightly": {"max_examples": 500, "derandomize": False},
}


def profile() -> dict[str, Any]:
    """The settings of the profile that `FUNCGRAD_PROFILE` names.

    Raises: ArgumentError: there is none of this name.
    """
    name = os.environ.get("FUNCGRAD_PROFILE") or "dev"
    if name not in PROFILES:
        raise ArgumentError(f"FUNCGRAD_PROFILE={name!r}; need one of {list(PROFILES)}")
    return {
        **PROFILES[name],
        "deadline": None,
        # not "explain": it traces every line of Python that the checks run
        "phases": [p for p in hypothesis.Phase if p is not hypothesis.Phase.explain],
        "print_blob": False,
        "report_multiple_bugs": False,
        # the snippet says it better than Hypothesis's own lines
        "verbosity": hypothesis.Verbosity.quiet,
        # a fixture is held constant, so it need not be made anew for every example
        "suppress_health_check": list(hypothesis.HealthCheck),
    }


def given_gradients(
    *examples: Any,
    order: int = 2,
    only: Iterable[str] | None = None,
    max_examples: int | None = None,
    expect_kink: bool = False,
    seed: int | None = None,
    **named: Any,
) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """Make a test of the decorated function, whose body returns what is to be differentiated.

    The test draws arguments and requires that `check_all` finds nothing wrong. An argument is a
    Hypothesis strategy, or an example, which stands for arrays of its shape and dtype: of numbers
    between 0 and 1, positive or of both signs, as it is itself; integers, flags and texts in it stay.
    Positional ones are for the first parameters. What is left of the parameters are pytest's fixtures
    and parameters, which are held constant. Where a result is not finite, other arguments are drawn.

    `order`: of the highest derivatives. `only`: the names of the checks to run. `expect_kink`:
    require that every point is at a kink. `max_examples`: in place of the profile's, which is `dev`
    (20), `ci` (50, the same in every run) or `nightly` (500), chosen by pytest's option ``--gradients``
    or the environment variable `FUNCGRAD_PROFILE`. `seed`: of everything that is drawn.

    A failure ends with a program that shows it again. The function is the test's attribute `function`.

    Raises: ArgumentError: an argument is for no parameter, or an option is not understood. In the
    test, GradientError: a derivative is wrong.

    >>> import numpy as np
    >>> from funcgrad.testing import given_gradients
    >>> from funcgrad.testing.strategies import arrays, unit
    >>> @given_gradients(x=arrays(3, domain=unit()), y=np.ones(3), max_examples=5)
    ... def test_entropy(x, y):
    ...     return np.sum(x * np.log(x / y))
    >>> test_entropy()
    """
    if len(examples) == 1 and not named and inspect.isfunction(examples[0]):
        raise ArgumentError("given_gradients: say of what arguments, @given_gradients(x=...)")
    plan = Plan.of("given_gradients", order, only, expect_kink)
    settings = profile()
    if max_examples is not None:
        settings["max_examples"] = max_examples

    def decorate(f: Callable[..., Any]) -> Callable[..., None]:
        by_name, rest, left = _assigned(f, examples, named)
        cases = st.tuples(
            st.fixed_dictionaries({n: standing_for(e) for n, e in by_name.items()}),
            st.tuples(*map(standing_for, rest)),
            st.integers(0, 255),
        )
        test = _runner(f, plan, left)
        test = hypothesis.given(gradient_case=cases)(hypothesis.settings(**settings)(test))
        if seed is not None:
            test = hypothesis.seed(seed)(test)
        setattr(f, TESTED, True)
        test.function = f  # type: ignore[attr-defined]
        test.place_as = f  # type: ignore[attr-defined]  # pytest: where the test is
        return test

    return decorate


def _assigned(
    f: Callable[..., Any], examples: tuple[Any, ...], named: dict[str, Any]
) -> tuple[dict[str, Any], tuple[Any, ...], list[inspect.Parameter]]:
    """The examples by parameter, those for ``*args``, and the parameters that pytest fills in."""
    if not callable(f) or not hasattr(f, "__name__"):
        raise ArgumentError("given_gradients: need a function; write @given_gradients(x=...)")
    parameters = list(inspect.signature(f).parameters.values())
    places = [
        p.name
        for i, p in enumerate(parameters)
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and (i or p.name != "self")
    ]
    kinds = {p.kind for p in parameters}
    first, rest = dict(zip(places, examples, strict=False)), examples[len(places) :]
    if rest and inspect.Parameter.VAR_POSITIONAL not in kinds:
        raise ArgumentError(
            f"given_gradients: {len(examples)} examples for the {len(places)} parameters of "
            f"{f.__name__}"
        )
    names = {p.name for p in parameters if p.kind is not p.VAR_POSITIONAL}
    for name in named:
        if name in first or (name not in names and inspect.Parameter.VAR_KEYWORD not in kinds):
            what = "two examples for" if name in first else "no parameter is called"
            raise ArgumentError(
                f"given_gradients: {what} {name!r} in {f.__name__}({', '.join(places)})"
            )
    by_name = {**first, **named}
    if not by_name and not rest:
        raise ArgumentError("given_gradients: need a strategy or an example for some parameter")
    left = [
        p.replace(kind=p.POSITIONAL_OR_KEYWORD, annotation=p.empty)
        for p in parameters
        if p.default is p.empty
        and p.name not in by_name
        and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    return by_name, rest, left


def _runner(
    f: Callable[..., Any], plan: Plan, left: list[inspect.Parameter]
) -> Callable[..., None]:
    """The test of one case; pytest's arguments come by name."""
    extra = inspect.Parameter("gradient_case", inspect.Parameter.KEYWORD_ONLY)
    signature = inspect.Signature([*left, extra])

    @functools.wraps(f)
    def run(*args: Any, **kwargs: Any) -> None:
        __tracebackhide__ = True
        fixed = dict(signature.bind(*args, **kwargs).arguments)
        values, rest, seed = fixed.pop("gradient_case")
        case = Case(f, *split(f, values, rest, fixed), fixed, seed)
        try:
            check(case.copied(), plan)  # the snippet shows what was drawn, whatever f writes into
        except hypothesis.errors.UnsatisfiedAssumption:
            raise
        except Exception as error:
            error.add_note(f"To see it again:\n\n{case.snippet(plan)}\n")
            raise

    run.__signature__ = signature  # type: ignore[attr-defined]
    return run


def check(case: Case, plan: Plan) -> None:
    """Require that nothing is wrong; give up a case whose results are not finite.

    Raises: GradientError: something is wrong. The message is what; the whole table is in `report`.
    """
    __tracebackhide__ = True
    hypothesis.assume(is_finite(case))
    report = case.check(plan)
    if not report.ok:
        error = GradientError(str(Report(report.subject, report.failures, report.kinks)))
        error.report = report  # type: ignore[attr-defined]  # for the plugin
        raise error


def is_finite(case: Case) -> bool:
    """Whether all results are finite: elsewhere there is no derivative to speak of.

    Raises: ArgumentError: there is nothing to differentiate among the results.
    """
    subject = Subject(case.subject(), case.args, case.kwargs).copied()
    with np.errstate(all="ignore"):
        results = subject()
    if not results:
        raise ArgumentError(
            f"{subject.name} returns no floating or complex array to differentiate; is there a "
            f"return missing, or a call that makes a Python number of it, as float() does?"
        )
    return all(np.all(np.isfinite(y)) for y in results)


# ---------------------------------------------------------------- arguments from examples


def standing_for(example: Any) -> SearchStrategy[Any]:
    """The strategy that an example stands for; a strategy stands for itself.

    >>> from hypothesis import find
    >>> find(standing_for({"w": np.ones(2, np.float32), "n": 3}), lambda p: True)
    {'w': array([1., 1.], dtype=float32), 'n': 3}
    """
    if isinstance(example, SearchStrategy):
        return example
    leaves, treedef = tree.flatten(example, is_leaf=lambda x: isinstance(x, SearchStrategy))
    return st.tuples(*map(_leaf, leaves)).map(treedef.unflatten)


def _leaf(x: Any) -> SearchStrategy[Any]:
    if isinstance(x, SearchStrategy):
        return x
    if isinstance(x, fs.Domain):
        raise ArgumentError(
            "given_gradients: an example is a domain, the values that may be drawn; give a strategy: "
            "arrays(shape, domain=...)"
        )
    if isinstance(x, float | complex) and not isinstance(x, np.generic):
        return _numbers((), np.asarray(x)).map(lambda a: a.item())
    if getattr(getattr(x, "dtype", None), "kind", "") not in ("f", "c"):
        return st.just(x)
    found = _numbers(np.shape(x), x)
    return found.map(lambda a: a[()]) if isinstance(x, np.generic) else found


def _numbers(shape: tuple[int, ...], x: Any) -> SearchStrategy[Any]:
    """Arrays with elements of the domain that `x` seems to be of."""
    values = np.asarray(x)
    values = values[np.isfinite(values)]
    size = float(np.max(np.abs(values), initial=1.0))
    if values.dtype.kind == "c":
        domain = fs.complexes(0.3, 2 * size)
    elif values.size and np.all((values > 0) & (values < 1)):
        domain = fs.unit()
    elif values.size and np.all(values > 0):
        domain = fs.positive(0.1, 4 * size)
    else:
        domain = fs.floats(-3 * size, 3 * size)
    return fs.arrays(shape, values.dtype, domain=domain)
