"""One case of a gradient test: a function at drawn arguments, how it is checked, how it is printed.

Layer 5. A failing case is printed as a snippet that runs by itself: imports, the arrays as literals at
full precision, the call of `check_all`.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import itertools
import math
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import tree
from ..errors import ArgumentError
from .checks import CHECKS
from .report import GradientError, Outcome, Report
from .run import all_checks, check_all, check_grads

WIDTH = 96  # of a line of a snippet


class Plan(NamedTuple):
    """What is checked: the orders up to `order`, the checks in `only` (None: all), a kink or not."""

    order: int = 2
    only: tuple[str, ...] | None = None
    expect_kink: bool = False

    @classmethod
    def of(cls, who: str, order: int, only: Iterable[str] | None, expect_kink: bool) -> Plan:
        """The same, checked.

        Raises: ArgumentError: an order below 1, or no check of a name.
        """
        if not isinstance(order, int) or order < 1:
            raise ArgumentError(f"{who}: order={order!r}; need 1, 2 or more")
        names = None if only is None else (only,) if isinstance(only, str) else tuple(only)
        if names is not None:
            known = list(all_checks())
            missing = [n for n in names if n not in known]
            if missing or not names:
                what = f"there is no check {missing[0]!r}" if missing else "only= names no check"
                raise ArgumentError(f"{who}: {what}; there are {known}")
        elif order < 2:
            names = tuple(n for n in CHECKS if n != "second order")
        return cls(order, names, expect_kink)


class Case(NamedTuple):
    """A function at drawn arguments; those in `fixed` are held constant; `seed`: of directions.

    `source`: an import and an expression for the function, where it is not to be asked itself.
    """

    f: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    fixed: dict[str, Any]
    seed: int
    source: tuple[str, str] | None = None

    def subject(self) -> Callable[..., Any]:
        """The function of the drawn arguments alone."""
        if not self.fixed:
            return self.f
        first = leading(self.f, self.fixed)
        rest = {n: v for n, v in self.fixed.items() if n not in first}
        part = functools.partial(self.f, *[self.fixed[n] for n in first], **rest)
        part.__name__ = name_of(self.f)  # type: ignore[attr-defined]  # what the report calls it
        return part

    def copied(self) -> Case:
        """The same with arrays of its own."""
        args, kwargs = tree.map(_copy, (self.args, self.kwargs))
        return self._replace(args=args, kwargs=kwargs)

    def check(self, plan: Plan) -> Report:
        """The report of all checks of the plan. What the function itself raises goes through."""
        f, kwargs = self.subject(), dict(self.kwargs)
        report = check_all(
            f, self.args, kwargs, only=plan.only, expect_kink=plan.expect_kink, seed=self.seed
        )
        if plan.order > 2:
            report.outcomes += self._higher(plan.order)
        return report

    def _higher(self, order: int) -> list[Outcome]:
        """The checks of the third order and above."""
        try:
            found = check_grads(
                self.subject(), self.args, dict(self.kwargs), order=order, seed=self.seed
            )
        except GradientError as error:
            lines = [line.strip() for line in str(error).splitlines() if " failed" in line]
            return [Outcome("higher orders", "failed", "; ".join(lines))]
        return [o for o in found.outcomes if o.name.startswith("order ")]

    def snippet(self, plan: Plan) -> str:
        """The case as a program.

        >>> case = Case(np.sum, (np.array([0.1, -2.0], np.float32),), {"axis": 0}, {}, 7)
        >>> print(case.snippet(Plan()))
        import numpy as np
        from funcgrad.testing import check_all
        <BLANKLINE>
        a = np.array([0.1, -2.0], dtype=np.float32)
        check_all(np.sum, (a,), {'axis': 0}, seed=7).raise_if_failed()
        """
        write = _Writer()
        setting: list[str] = []
        names = self._named(write, setting)
        args = f"({', '.join(names)}{',' if len(names) == 1 else ''})"
        given = [f"{n!r}: {write(v)}" for n, v in self.kwargs.items()]
        if self.source is None:
            f = write.function(self.f)
        else:
            needed, f = self.source
            write.imports[needed] = None
        if self.fixed:
            write.imports["import functools"] = None
            first = leading(self.f, self.fixed)
            fixed = [
                f"{'' if n in first else n + '='}{write.instance(self.f) if n == 'self' else write(v)}"
                for n, v in self.fixed.items()
            ]
            f = f"functools.partial({', '.join([f, *fixed])})"
        call = [f, args, *([f"{{{', '.join(given)}}}"] if given else [])]
        seed = [f"seed={self.seed}"] if self.seed else []
        checks = [_fold("check_all(", [*call, *_options(plan), *seed], ").raise_if_failed()")]
        if plan.order > 2:
            checks.append(_fold("check_grads(", [*call, f"order={plan.order}", *seed], ")"))
        used = "check_all, check_grads" if plan.order > 2 else "check_all"
        write.imports[f"from funcgrad.testing import {used}"] = None
        imports = sorted(write.imports, key=lambda line: (not line.startswith("import"), line))
        return "\n".join([*imports, *write.remarks, "", *setting, *checks])

    def _named(self, write: _Writer, setting: list[str]) -> list[str]:
        """Assignments of the positional arguments, and the names they are assigned to."""
        names = parameter_names(self.f, len(self.args), set(self.fixed))
        for name, value in zip(names, self.args, strict=True):
            setting.append(f"{name} = {write(value)}")
        return names


def _copy(x: Any) -> Any:
    return x.copy() if isinstance(x, np.ndarray) else x


def _options(plan: Plan) -> list[str]:
    found = [] if plan.only is None else [f"only={list(plan.only)}"]
    return [*found, "expect_kink=True"] if plan.expect_kink else found


def name_of(f: Callable[..., Any]) -> str:
    """What a function is called."""
    return getattr(f, "__name__", type(f).__name__)


def parameter_names(f: Callable[..., Any], count: int, taken: set[str]) -> list[str]:
    """Names for `count` positional arguments, as variables of a snippet."""
    try:
        parameters = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [p.name for p in parameters if p.kind in positional and p.name not in taken]
    reserved = {"np", "functools", "check_all", "check_grads", "f"}
    names = [f"{n}_" if n in reserved else n for n in names]
    return [names[i] if i < len(names) else f"x{i}" for i in range(count)]


# ---------------------------------------------------------------- literals


def literal(value: Any) -> str:
    """An expression that makes the value again, to the last bit.

    >>> literal({"w": np.array([[0.1, np.nan]]), "n": (1, "a")})
    "{'w': np.array([[0.1, np.nan]]), 'n': (1, 'a')}"
    >>> literal(np.float32(0.1)), literal(np.zeros((0, 2), np.float32))
    ('np.float32(0.1)', 'np.zeros((0, 2), dtype=np.float32)')
    """
    return _Writer()(value)


class _Writer:
    """Writes literals, and notes which imports they need. Each method is for one kind of value."""

    def __init__(self) -> None:
        self.imports: dict[str, None] = {}
        self.remarks: list[str] = []

    def __call__(self, value: Any) -> str:
        if isinstance(value, np.ndarray):
            return self.array(value)
        if isinstance(value, np.generic) and value.dtype.kind in "fciub":
            self.imports["import numpy as np"] = None
            return f"np.{value.dtype.name}({self.number(value)})"
        if isinstance(value, float | complex):
            return self.python_number(value)
        if isinstance(value, dict):
            parts = [f"{k!r}: {self(v)}" for k, v in value.items()]
            return self.called(value, dict, f"{{{', '.join(parts)}}}")
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            parts = [f"{n}={self(v)}" for n, v in zip(value._fields, value, strict=True)]
            return f"{self.name(type(value))}({', '.join(parts)})"
        if isinstance(value, list | tuple):
            return self.sequence(value)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = [f.name for f in dataclasses.fields(value) if f.init]
            parts = [f"{n}={self(getattr(value, n))}" for n in fields]
            return f"{self.name(type(value))}({', '.join(parts)})"
        if callable(value) and hasattr(value, "__qualname__"):
            return self.function(value)
        return repr(value)

    def array(self, x: np.ndarray) -> str:
        self.imports["import numpy as np"] = None
        natural = x.dtype in (np.float64, np.complex128, np.int64, np.bool_)
        dtype = "" if natural else f", dtype=np.{x.dtype.name}"
        if x.dtype.kind not in "fciub":
            return f"np.array({x.tolist()!r}, dtype={x.dtype.str!r})"
        if not x.size:
            wanted = "" if x.dtype == np.float64 else f", dtype=np.{x.dtype.name}"
            return f"np.zeros({x.shape}{wanted})"
        short = f"np.array({self.nested(x, ', ')}{dtype})"
        return short if len(short) <= WIDTH else f"np.array({self.nested(x, ',' + chr(10))}{dtype})"

    def nested(self, x: np.ndarray, between: str) -> str:
        """Nested lists; `between` separates the rows."""
        if x.ndim == 0:
            return self.number(x[()])
        rows = [self.nested(row, between) for row in x]
        return f"[{(', ' if x.ndim == 1 else between).join(rows)}]"

    def number(self, x: Any) -> str:
        """One element, in its own precision."""
        kind = x.dtype.kind
        if kind == "c":
            return self.complex_number(x.real, x.imag)
        if kind == "f" and x.dtype.itemsize > 8:
            return repr(x)
        return self.real(str(x)) if kind == "f" else str(x)

    def complex_number(self, re: Any, im: Any) -> str:
        parts = [self.real(str(part)) for part in (re, im)]
        if all(math.isfinite(part) for part in (re, im)) and "-0.0" not in parts:
            return f"{parts[0]}{'' if parts[1].startswith('-') else '+'}{parts[1]}j"
        return f"complex({', '.join(parts)})"  # as re + im * 1j it would lose the sign of a zero

    def real(self, text: str) -> str:
        sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
        if digits in ("inf", "nan"):
            self.imports["import numpy as np"] = None
            return f"{sign}np.{digits}"
        return text

    def python_number(self, x: Any) -> str:
        if isinstance(x, complex):
            return self.complex_number(x.real, x.imag)
        return repr(x) if math.isfinite(x) else f"float({str(x)!r})"

    def sequence(self, value: Any) -> str:
        inside = ", ".join(map(self, value))
        if isinstance(value, list):
            return self.called(value, list, f"[{inside}]")
        return self.called(value, tuple, f"({inside}{',' if len(value) == 1 else ''})")

    def called(self, value: Any, kind: type, text: str) -> str:
        """A subclass of a container is made of the plain container."""
        return text if type(value) is kind else f"{self.name(type(value))}({text})"

    def name(self, thing: Any) -> str:
        """The name of a class or function, imported from where it is defined."""
        module, qualname = getattr(thing, "__module__", None) or "builtins", str(thing.__qualname__)
        if module == "builtins":
            return qualname
        if module == "numpy" or (module.startswith("numpy.") and "._" not in module):
            self.imports["import numpy as np"] = None
            return f"np{module.removeprefix('numpy')}.{qualname}"
        if "<" in qualname:
            return self.unnamed(thing, qualname)
        where = "" if module == "__main__" else f"from {module} import {qualname.partition('.')[0]}"
        if where:
            self.imports[where] = None
        return qualname

    def unnamed(self, thing: Any, qualname: str) -> str:
        """A lambda or a local function cannot be imported: say where it is."""
        code = getattr(thing, "__code__", None)
        at = f", {code.co_filename}:{code.co_firstlineno}" if code is not None else ""
        self.remarks.append(f"# f: {qualname}{at}")
        return "f"

    def function(self, f: Callable[..., Any]) -> str:
        """An expression for a function; that of a gradient test is its attribute `function`."""
        if isinstance(f, np.ufunc):
            self.imports["import numpy as np"] = None
            return f"np.{f.__name__}"
        if not hasattr(f, "__qualname__"):
            return self.unnamed(f, repr(f))
        name = self.name(f)
        return f"{name}.function" if getattr(f, TESTED, False) and name != "f" else name

    def instance(self, f: Any) -> str:
        """What stands for `self`."""
        return f"{f.__qualname__.rpartition('.')[0]}()"


TESTED = "__funcgrad_tested__"  # the attribute that marks the body of a gradient test


def _fold(begin: str, parts: Sequence[str], end: str) -> str:
    """A call on one line, or one argument per line."""
    line = f"{begin}{', '.join(parts)}{end}"
    if len(line) <= WIDTH:
        return line
    return "\n".join([begin, *(f"    {part}," for part in parts), end])


def leading(f: Callable[..., Any], fixed: Mapping[str, Any]) -> list[str]:
    """The parameters in `fixed` that come before all others: `self`, for one."""
    if not fixed:
        return []
    return list(itertools.takewhile(lambda n: n in fixed, inspect.signature(f).parameters))


def split(
    f: Callable[..., Any],
    values: Mapping[str, Any],
    rest: Sequence[Any] = (),
    fixed: Mapping[str, Any] = types.MappingProxyType({}),
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Values by the name of a parameter, as positional and keyword arguments, beside those in `fixed`.

    As many as possible are positional; `rest` is for ``*args``. Floats by keyword become NumPy's,
    which are differentiated.

    >>> split(lambda x, y, *, z: x, {"z": 1.0, "x": 2.0, "y": 3.0})
    ((2.0, 3.0), {'z': np.float64(1.0)})
    """
    left, args = dict(values), []
    parameters = list(inspect.signature(f).parameters.values())
    for p in parameters[len(leading(f, fixed)) :]:
        if p.name not in left or p.kind not in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
            break
        args.append(left.pop(p.name))
    wide: dict[type, Any] = {float: np.float64, complex: np.complex128}
    return (*args, *rest), {n: wide.get(type(v), lambda v: v)(v) for n, v in left.items()}
