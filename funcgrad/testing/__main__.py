"""``python -m funcgrad.testing package.module:function`` checks the gradients of a function.

Layer 5; needs Hypothesis. Arguments are drawn from the given domains, or from what the function's
signature and a few trial calls tell.
"""

from __future__ import annotations

import argparse
import difflib
import functools
import importlib
import importlib.util
import inspect
import os
import pkgutil
import sys
import time
import typing
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from ..errors import ArgumentError
from .cases import TESTED, Case, Plan, name_of, split
from .report import Outcome, Report
from .run import all_checks

try:
    import hypothesis
    from hypothesis import strategies as st

    from . import strategies as fs
    from .decorators import is_finite, profile, standing_for
except ImportError as error:
    print(f"python -m funcgrad.testing: {error}", file=sys.stderr)
    raise SystemExit(2) from None

SHAPES: tuple[tuple[int, ...], ...] = ((3,), (), (3, 3))  # tried where nothing says which
RANGES = ((-3.0, 3.0), (0.1, 4.0), (0.05, 0.95))
DOMAINS = ("positive", "unit", "away_from", "floats", "complexes", "integers", "booleans")


class UsageError(Exception):
    """What was asked for cannot be done; the message is one line."""


def near(word: str, words: Iterable[str]) -> str:
    """``; did you mean ...?``, if something is similar."""
    found = difflib.get_close_matches(word, list(words), 3, 0.6)
    return f"; did you mean {' or '.join(found)}?" if found else ""


# ---------------------------------------------------------------- the function


class Target(NamedTuple):
    """A function, and how a program gets at it: an import, an expression."""

    f: Callable[..., Any]
    source: tuple[str, str]


def find(text: str) -> Target:
    """The function at ``package.module:function`` or ``folder/file.py:function``.

    Raises: UsageError: there is none.
    """
    place, colon, path = text.rpartition(":")
    if not colon or not place or not path:
        hint = ":".join(text.rsplit(".", 1)) if "." in text and not text.endswith(".py") else ""
        example = hint or f"{text or 'module'}:function"
        raise UsageError(f"{text!r} names no function; need module:function, as in {example}")
    module = _of_file(Path(place)) if place.endswith(".py") else _of_name(place)
    found: Any = module
    for name in path.split("."):
        if not hasattr(found, name):
            names = [n for n in dir(found) if callable(getattr(found, n, None))]
            where = place if found is module else f"{place}:{path.rpartition('.')[0]}"
            raise UsageError(f"there is no {name!r} in {where}{near(name, names)}")
        found = getattr(found, name)
    if not callable(found):
        raise UsageError(f"{text} is no function, but of type {type(found).__name__}")
    expression = path
    inner = getattr(found, "function", None)
    if getattr(inner, TESTED, False):  # a gradient test: its body
        found, expression = inner, f"{path}.function"
    stem = Path(place).stem if place.endswith(".py") else place
    return Target(found, (f"from {stem} import {path.partition('.')[0]}", expression))


def _of_name(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if name != missing and not name.startswith(f"{missing}."):
            raise _failed(name, error) from None
        parent, _, last = missing.rpartition(".")
        folder = getattr(sys.modules.get(parent), "__path__", None)
        words = {m.name for m in pkgutil.iter_modules(folder)}
        hint = near(last, words if parent else words | sys.stdlib_module_names)
        raise UsageError(f"there is no module {missing!r}{hint}") from None
    except (Exception, SystemExit) as error:
        raise _failed(name, error) from None


def _of_file(path: Path) -> ModuleType:
    if not path.is_file():
        hint = near(path.name, [p.name for p in path.parent.glob("*.py")])
        raise UsageError(f"there is no file {path}{hint}")
    name = path.stem if path.stem not in sys.modules else f"{path.stem}_"
    sys.path.insert(0, str(path.parent.resolve()))
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise _failed(str(path), error) from None
    return module


def _failed(what: str, error: BaseException) -> UsageError:
    return UsageError(f"importing {what} fails: {_line(error)}")


def _line(error: BaseException) -> str:
    """An exception on one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


# ---------------------------------------------------------------- its arguments


def domain(text: str) -> tuple[str, Any]:
    """``x=positive(3)``: a parameter's name, and the strategy or the example on the right.

    The first argument of a domain is a shape, and the result are arrays.

    Raises: UsageError: it is no such thing.
    """
    name, equals, right = (part.strip() for part in text.partition("="))
    if not equals or not name.isidentifier() or not right:
        raise UsageError(f"--domain {text!r}: need name=domain, as in x=positive(3)")
    names: dict[str, Any] = {n: getattr(fs, n) for n in dir(fs) if not n.startswith("_")}
    names |= {n: functools.partial(_shaped, getattr(fs, n)) for n in DOMAINS}
    names |= {"fs": fs, "st": st, "np": np}
    try:
        found = eval(right, names)
    except NameError as error:
        hint = near(str(error.name), names)
        raise UsageError(f"--domain {text!r}: there is no domain {error.name!r}{hint}") from None
    except Exception as error:
        raise UsageError(f"--domain {text!r}: {_line(error)}") from None
    return name, found


def _shaped(make: Callable[..., Any], shape: Any = 3, *args: Any, **kwargs: Any) -> Any:
    """Arrays of a shape with elements of a domain."""
    dtype = kwargs.pop("dtype", None)
    return fs.arrays(shape, dtype, domain=make(*args, **kwargs))


class Arguments(NamedTuple):
    """What to draw: by name, and for ``*args``."""

    by_name: dict[str, Any]
    rest: tuple[Any, ...] = ()

    def strategy(self) -> Any:
        by_name = {n: standing_for(e) for n, e in self.by_name.items()}
        return st.tuples(st.fixed_dictionaries(by_name), st.tuples(*map(standing_for, self.rest)))


def parameters_of(f: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters, with annotations evaluated; one `x` where there is no telling."""
    for eval_str in (True, False):
        try:
            return list(inspect.signature(f, eval_str=eval_str).parameters.values())
        except Exception:  # whatever an annotation raises, or there is no signature
            continue
    return [inspect.Parameter("x", inspect.Parameter.POSITIONAL_ONLY)]


def arguments_of(f: Callable[..., Any], domains: dict[str, Any]) -> Arguments:
    """What to draw: from the domains, the defaults and the annotations, and else by trial.

    Raises: UsageError: a domain is for no parameter, or no trial works.
    """
    parameters = parameters_of(f)
    names = [p.name for p in parameters]
    kinds = {p.kind for p in parameters}
    for name in domains:
        if name not in names and inspect.Parameter.VAR_KEYWORD not in kinds:
            raise UsageError(
                f"--domain: {name_of(f)} has no parameter {name!r}; it has {', '.join(names)}"
                f"{near(name, names)}"
            )
    by_name: dict[str, Any] = {}
    rest: tuple[Any, ...] = ()
    unknown: list[tuple[str, Any]] = []
    for p in parameters:
        if p.kind is p.VAR_POSITIONAL:
            rest = (domains[p.name],) if p.name in domains else ()
        elif p.name in domains:
            by_name[p.name] = domains[p.name]
        elif p.kind is p.VAR_KEYWORD:
            continue
        elif p.default is not p.empty:
            if _is_float(p.default):
                by_name[p.name] = p.default
        elif p.annotation in _ANNOTATED:
            by_name[p.name] = _ANNOTATED[p.annotation]
        else:
            by_name[p.name] = None  # in the order of the signature
            unknown.append((p.name, _dtype(p.annotation)))
    extra = {n: d for n, d in domains.items() if n not in names}
    if not by_name and not extra and not rest:
        hint = f'; say what, as in --domain "{names[0]}=positive(3)"' if names else ""
        raise UsageError(
            f"{name_of(f)}({', '.join(map(str, parameters))}) has nothing to draw{hint}"
        )
    return _guessed(f, Arguments({**by_name, **extra}, rest), unknown)


def _is_float(x: Any) -> bool:
    return isinstance(x, float | complex) or getattr(getattr(x, "dtype", None), "kind", "") in (
        "f",
        "c",
    )


_ANNOTATED: dict[Any, Any] = {
    float: 0.0,
    complex: 1j,
    bool: st.booleans(),
    int: st.integers(1, 4),
}


def _dtype(annotation: Any) -> Any:
    """The dtype that ``NDArray[np.float32]`` asks for, if it does."""
    for part in typing.get_args(annotation):
        for scalar in typing.get_args(part):
            if isinstance(scalar, type) and issubclass(scalar, np.inexact):
                return np.dtype(scalar)
    return np.dtype(np.float64)


def _guessed(f: Callable[..., Any], known: Arguments, unknown: list[tuple[str, Any]]) -> Arguments:
    """Something for the unknown parameters: the first shape that `f` takes, where it is finite."""
    if not unknown:
        return known
    refusal = ""
    for shape in SHAPES:
        for low, high in RANGES:
            found = {name: _guess(shape, dtype, low, high) for name, dtype in unknown}
            arguments = known._replace(by_name={**known.by_name, **found})
            finite, error = _trials(f, arguments)
            if finite > 0.5:
                return arguments
            refusal = refusal or error
    names = ", ".join(name for name, _ in unknown)
    why = f"refuses such ({refusal})" if refusal else "is finite for none such"
    raise UsageError(
        f"what are {names}? tried arrays of shape (3,), numbers and arrays of shape (3, 3), but the "
        f'function {why}; say --domain "{unknown[0][0]}=positive(3)"'
    )


def _guess(shape: tuple[int, ...], dtype: Any, low: float, high: float) -> Any:
    """Arrays of numbers in a range; matrices with a dominant diagonal, which have an inverse."""
    if len(shape) < 2:
        domain = fs.complexes() if dtype.kind == "c" else fs.floats(low, high)
        return fs.arrays(shape, dtype, domain=domain)
    small = fs.complexes(0.1, 1.0) if dtype.kind == "c" else fs.floats(low / high, 1.0)
    diagonal = np.eye(*shape, dtype=dtype) * 4
    return fs.arrays(shape, dtype, domain=small).map(lambda x: x + diagonal)


def _trials(f: Callable[..., Any], arguments: Arguments) -> tuple[float, str]:
    """In which share of a few trials the results are finite, and the first exception."""
    found: list[bool] = []
    errors: list[str] = []

    def trial(values: Any) -> None:
        try:
            found.append(is_finite(Case(f, *split_for(f, *values), {}, 0)))
        except Exception as error:
            found.append(False)
            errors.append(_line(error))

    drawn(trial, arguments.strategy(), 8, 0)
    return sum(found) / max(len(found), 1), errors[0] if errors else ""


def split_for(
    f: Callable[..., Any], by_name: dict[str, Any], rest: tuple[Any, ...]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional and keyword arguments, for functions without a signature too."""
    try:
        return split(f, by_name, rest)
    except (TypeError, ValueError):
        return (*by_name.values(), *rest), {}


def drawn(each: Callable[[Any], None], strategy: Any, count: int, seed: int) -> None:
    """Call `each` with `count` drawn values."""
    settings = hypothesis.settings(
        max_examples=count,
        database=None,
        derandomize=False,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        verbosity=hypothesis.Verbosity.quiet,
        suppress_health_check=list(hypothesis.HealthCheck),
    )

    def test(value: Any) -> None:
        each(value)

    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        hypothesis.seed(seed)(hypothesis.given(value=strategy)(settings(test)))()


# ---------------------------------------------------------------- the run


class Tally:
    """What became of every check, over all examples."""

    def __init__(self) -> None:
        self.counts: dict[str, Counter[str]] = {}
        self.reasons: dict[str, str] = {}  # why a check was skipped, the first time
        self.kinks: dict[tuple[str, str], list[float]] = {}
        self.failure: tuple[Outcome, str] | None = None
        self.examples = self.failed = self.outside = 0

    def add(self, case: Case, plan: Plan) -> None:
        """Check one case and count."""
        try:
            if not is_finite(case):
                self.outside += 1
                return
            report = case.copied().check(plan)
        except ArgumentError:
            raise
        except Exception as error:  # the function itself raised
            report = Report("", [Outcome("the call", "failed", _line(error))], [])
        self.examples += 1
        self.failed += not report.ok
        for o in report.outcomes:
            self.counts.setdefault(o.name, Counter())[o.status] += 1
            if o.status == "skipped":
                self.reasons.setdefault(o.name, o.detail)
        for kink in report.kinks:
            at = "" if kink.line.startswith(__file__) else f" at {kink.line}"
            self.kinks.setdefault((kink.primitive, at), []).append(kink.margin)
        if self.failure is None and not report.ok:
            self.failure = report.failures[0], case.snippet(plan)

    def lines(self) -> Iterator[str]:
        """The table, the first failure, the kinks."""
        width = max(map(len, self.counts), default=0)
        statuses = ("passed", "failed", "skipped")
        yield f"  {'':<{width}}  {'  '.join(statuses)}"
        for name, count in self.counts.items():
            cells = "  ".join(f"{count[s]:>{len(s)}}" for s in statuses)
            yield f"  {name:<{width}}  {cells}  {self.reasons.get(name, '')}".rstrip()
        if self.outside:
            yield f"  {self.outside} more, where the results are not finite, are left out"
        if self.kinks:
            yield "\nkinks met:"
        for (primitive, at), margins in sorted(self.kinks.items()):
            times = f"{len(margins)} time{'s' if len(margins) > 1 else ''}"
            yield f"  {primitive}{at}: {times}, the nearest at margin {min(margins):.2g}"
        if self.failure is not None:
            outcome, snippet = self.failure
            yield f"\nthe first failure: {outcome.name}: {outcome.detail}\n\n{snippet}"


class Progress:
    """One line that is written again and again on a terminal; nothing elsewhere."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.live = sys.stdout.isatty() and sys.stderr.isatty()

    def show(self, tally: Tally) -> None:
        if self.live:
            failed = f", {tally.failed} failed" if tally.failed else ""
            text = f"{tally.examples} of {self.total} examples{failed}"
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        if self.live:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def run(target: Target, arguments: Arguments, plan: Plan, count: int, seed: int) -> Tally:
    """Check the function at `count` drawn places."""
    tally, progress = Tally(), Progress(count)
    rng = np.random.default_rng(seed)

    def each(values: Any) -> None:
        args, kwargs = split_for(target.f, *values)
        case = Case(target.f, args, kwargs, {}, int(rng.integers(256)), target.source)
        tally.add(case, plan)
        progress.show(tally)

    try:
        drawn(each, arguments.strategy(), count, seed)
    finally:
        progress.clear()
    return tally


# ---------------------------------------------------------------- the command line


def parse(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m funcgrad.testing",
        description="Check the derivatives of a function at drawn arguments. The exit status is 0 "
        "if they are right, 1 if they are not, 2 if the command is not understood.",
    )
    parser.add_argument("target", help="package.module:function or folder/file.py:function")
    parser.add_argument(
        "--domain",
        action="append",
        default=[],
        metavar="NAME=DOMAIN",
        help='where a parameter is drawn from: "x=positive(3)", "w=floats((2, 3), -1, 1)" (the first '
        'argument is the shape), any strategy ("a=spd(3)", "n=st.integers(1, 9)") or an example '
        '("x=np.ones(3)", "axis=0"); may be repeated',
    )
    parser.add_argument("--order", type=int, default=2, help="of the highest derivative (2)")
    parser.add_argument("--examples", type=int, metavar="N", help="how many (by FUNCGRAD_PROFILE)")
    parser.add_argument("--seed", type=int, default=0, help="of all that is drawn (0)")
    parser.add_argument("--only", metavar="NAME,...", help="the checks to run")
    return parser.parse_args(argv)


def checks_of(text: str | None) -> list[str] | None:
    """The names of checks in a list with commas.

    Raises: UsageError: there is no check of a name.
    """
    if text is None:
        return None
    known = list(all_checks())
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in known:
            hint = near(name, known) or f"; there are {', '.join(known)}"
            raise UsageError(f"--only: there is no check {name!r}{hint}")
    return names


def main(argv: list[str] | None = None) -> int:
    """Run the checks; the exit status is 0 if all derivatives are right."""
    options = parse(argv)
    try:
        plan = Plan.of("--order", options.order, checks_of(options.only), False)
        count = profile()["max_examples"] if options.examples is None else options.examples
        if count < 1:
            raise UsageError(f"--examples {count}: need 1 or more")
        begin = time.perf_counter()
        target = find(options.target)
        arguments = arguments_of(target.f, dict(map(domain, options.domain)))
        tally = run(target, arguments, plan, count, options.seed)
        if not tally.examples:
            raise UsageError("the results are finite nowhere; say --domain")
    except (UsageError, ArgumentError) as error:
        print(f"python -m funcgrad.testing: {error}", file=sys.stderr)
        return 2
    seconds = time.perf_counter() - begin
    number = f"{tally.examples} example{'' if tally.examples == 1 else 's'}"
    verdict = "WRONG" if tally.failed else "all right"
    print(f"gradients of {options.target}, {number} in {seconds:.1f} s: {verdict}")
    for line in tally.lines():
        print(line)
    return 1 if tally.failed else 0


def guarded() -> int:
    """`main`, quiet if it is interrupted or if nobody reads on."""
    try:
        status = main()
        sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141  # what a shell says of a program that SIGPIPE ended
    return status


if __name__ == "__main__":
    sys.exit(guarded())
