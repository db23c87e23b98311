"""`find_nonfinite`: the input at which a gradient is nan or inf, the line that makes it, and a repair.

Layer 5. A function can have finite values and derivatives that are not: a root at 0, a `where` whose
other branch is singular, an exponential that overflows on the way. The search tries special values
first and then random ones, makes what it finds simpler, and lets `culprit` name the equation.
"""

from __future__ import annotations

import contextlib
import importlib
import linecache
import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import tree
from ..transforms.strong import strong_zeros
from ..transforms.vjp import vjp
from .culprit import Run, Source, Spot, is_finite
from .domains import Domain, is_extreme
from .repairs import repair
from .subject import Subject

_WAYS = ("gradient", "value", "extreme gradient", "extreme value")  # the first is what matters most
_TRIALS = 400  # at most so many evaluations to make an input simpler


@dataclass(frozen=True, eq=False, repr=False)
class NonFinite:
    """An input at which a function's gradient or value is not finite. Printing it gives the report.

    `args`: the arguments; `inputs`: the floating ones by path. `kind`: ``"gradient"`` if the value
    there is finite, else ``"value"``.
    `value`: what the function returns there. `gradients`: by path, those that are not finite.
    `primitive`, `source`, `line`: the operation that makes it, with its file, line number and text.
    `operands`, `cotangent`: what goes into it. `repair`: what to write instead.
    """

    function: str
    args: tuple[Any, ...]
    inputs: dict[str, Any]
    kind: str
    value: Any
    gradients: dict[str, Any]
    primitive: str
    source: Source
    line: str
    operands: tuple[Any, ...]
    cotangent: Any
    meets: str
    repair: str

    def __str__(self) -> str:
        what = "gradient" if self.kind == "gradient" else "value"
        where = ", though its value is" if self.kind == "gradient" else ""
        rows = [("input", f"{path} = {_show(x)}") for path, x in self.inputs.items()]
        rows.append(("value", ", ".join(_show(y) for y in self.value)))
        rows += [("gradient", f"by {path}: {_show(g)}") for path, g in self.gradients.items()]
        if self.primitive:
            rows.append(("made by", f"{self.primitive} at {_place(self.source, self.line)}"))
            rows.append(("from", self._operands()))
        if self.meets:
            rows.append(("and then", self.meets))
        rows.append(("repair", self.repair))
        head = f"the {what} of {self.function} is not finite{where}"
        return "\n".join([head, *(f"  {name:<9} {text}" for name, text in rows)])

    def _operands(self) -> str:
        text = " and ".join(map(_show, self.operands))
        return (
            text
            if self.cotangent is None
            else f"{text}, with the cotangent {_show(self.cotangent)}"
        )

    def __repr__(self) -> str:
        return f"<NonFinite: {self.kind} of {self.function}, made by {self.primitive or 'unknown'}>"


def find_nonfinite(
    f: Callable[..., Any],
    domain: Sequence[Any],
    *,
    kwargs: dict[str, Any] | None = None,
    tries: int = 200,
    seed: int = 0,
) -> NonFinite | None:
    """Look for arguments where `f` is finite and its gradient is not; None if there seem to be none.

    `domain`: one entry per argument: an example (an array, a number, or a tree of them, whose shapes
    and dtypes are kept), a pair ``(low, high)`` of Python numbers, or a Hypothesis strategy. Integers
    and everything else are held as they are. Special values come first (zeros, ties, equal elements,
    tiny and huge numbers), then `tries` random ones, then as many that Hypothesis, where it is
    installed, leads towards large intermediate numbers. The same `seed` gives the same result. An
    input at which the value itself is not finite comes second; around an example only up to moderate
    size, because anything overflows somewhere. Results of several elements are summed.

    Raises: ArgumentError: there is nothing in the domain to look in. What `f` raises, if it raises
    everywhere.

    >>> import numpy as np
    >>> from funcgrad.testing import find_nonfinite
    >>> print(find_nonfinite(lambda x: np.sqrt(np.sum(x * x)), (np.array([3.0, 4.0]),)))
    the gradient of <lambda> is not finite, though its value is
      input     x = [0. 0.]
      value     0.0
      gradient  by x: [nan nan]
      made by   sqrt at <doctest ...
      from      0.0, with the cotangent 1.0
      repair    a length by hand: np.linalg.norm(x), whose slope is 0 at the origin
    """
    search = _Search(f, Domain(domain), dict(kwargs or {}), seed)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = search.found(tries)
        return None if values is None else _explained(search.subject(values))


class _Search:
    """Tries inputs; `best` holds for every way to fail, in the order of `_WAYS`, the first found."""

    def __init__(self, f: Any, domain: Domain, kwargs: dict[str, Any], seed: int) -> None:
        self.f, self.domain, self.kwargs, self.seed = f, domain, kwargs, seed
        self.rng = np.random.default_rng(seed)
        self.best: dict[str, list[Any]] = {}
        self.error: Exception | None = None
        self.ran = False

    def subject(self, values: Sequence[Any]) -> Subject:
        return Subject(self.f, self.domain.args(values), self.kwargs)

    def look(self, values: Sequence[Any]) -> str:
        """Which of `_WAYS` the input fails in; empty if it does not, or if `f` raises."""
        try:
            s = self.subject(values)
            if not s.xs or not all(map(is_finite, s.xs)):
                return ""
            outs, pull = vjp(s, *s.xs)
            kind = "gradient"
            if not all(map(is_finite, outs)):
                kind = "value" if self.domain.counts(values) else ""
            elif all(map(is_finite, pull([np.ones_like(y) for y in outs]))):
                kind = ""
            self.ran = True
        except Exception as error:  # the user's function need not take everything
            self.error = self.error or error
            return ""
        return f"extreme {kind}" if kind and any(map(is_extreme, s.xs)) else kind

    def note(self, values: Sequence[Any]) -> str:
        way = self.look(values)
        if way:
            self.best.setdefault(way, list(values))
        return way

    def found(self, tries: int) -> list[Any] | None:
        """The values of an input that fails, as simple as it can be made."""
        if not self.domain.has_strategies:
            self._until_found(self.domain.specials(self.rng))
            self._until_found(self.domain.random(self.rng) for _ in range(tries))
        if _WAYS[0] not in self.best and tries > 0:
            self._led(_WAYS[0], tries)
        if not self.ran and self.error is not None:
            raise self.error
        for way in _WAYS:
            if way in self.best:
                kind = way.split()[-1]

                def fails(values: Any, kind: str = kind) -> bool:
                    return self.look(values).endswith(kind)

                return self.domain.simplified(self.best[way], fails, _TRIALS)
        return None

    def _until_found(self, candidates: Iterable[list[Any]]) -> None:
        if _WAYS[0] in self.best:
            return
        for candidate in candidates:
            if self.note(candidate) == _WAYS[0]:
                return

    def _led(self, wanted: str, tries: int) -> None:
        """Let Hypothesis search; where the domain has strategies, it also makes inputs simpler."""
        hypothesis = _hypothesis()
        needed = self.domain.has_strategies
        if hypothesis is None or (hypothesis.currently_in_test_context() and not needed):
            return
        phase = hypothesis.Phase
        shrink = [phase.shrink] if needed else []

        @hypothesis.seed(self.seed)
        @hypothesis.settings(
            max_examples=tries,
            phases=[phase.generate, phase.target, *shrink],
            database=None,
            deadline=None,
            derandomize=False,
            print_blob=False,
            report_multiple_bugs=False,
            verbosity=hypothesis.Verbosity.quiet,
            suppress_health_check=list(hypothesis.HealthCheck),
        )
        @hypothesis.given(self.domain.strategy(hypothesis.strategies))
        def attempt(candidate: Any) -> None:
            way = self.note(candidate)
            if way == wanted:
                self.best[way] = list(candidate)  # the last one is the simplest
                raise _Found
            if not way:
                self._aim(hypothesis, candidate)

        with contextlib.suppress(_Found):
            attempt()
            other = next((way for way in _WAYS if way in self.best), None)
            if needed and other is not None and wanted == _WAYS[0]:
                self._led(other, tries)

    def _aim(self, hypothesis: Any, candidate: Any) -> None:
        """Tell Hypothesis how large the numbers become on the way, forward and back."""
        try:
            forward, back = Run(self.subject(candidate)).magnitudes()
        except Exception:  # as in `look`
            return
        hypothesis.target(forward, label="values")
        hypothesis.target(back, label="cotangents")


def _hypothesis() -> Any:
    """The module, imported only where it is used; None if it is not installed."""
    try:
        return importlib.import_module("hypothesis")
    except ImportError:
        return None


class _Found(Exception):
    """An input was found."""


# ---------------------------------------------------------------- the explanation


def _explained(s: Subject) -> NonFinite:
    outs, pull = vjp(s, *s.xs)
    kind = "gradient" if all(map(is_finite, outs)) else "value"
    gradients = {}
    if kind == "gradient":
        found = pull([np.ones_like(y) for y in outs])
        gradients = {p: g for p, g in zip(s.paths, found, strict=True) if not is_finite(g)}
    spot, meets, text = _located(s, kind)
    source = None if spot is None else spot.step.source
    return NonFinite(
        function=s.name,
        args=tree.unflatten(s.treedef, s.leaves)[0],
        inputs=dict(zip(s.paths, s.xs, strict=True)),
        kind=kind,
        value=list(outs),
        gradients=gradients,
        primitive="" if spot is None else spot.step.name,
        source=source,
        line=_text(source),
        operands=() if spot is None else spot.operands,
        cotangent=None if spot is None else spot.cotangent,
        meets=_meeting(spot, meets),
        repair=text,
    )


def _located(s: Subject, kind: str) -> tuple[Spot | None, Spot | None, str]:
    """The equation, where its result meets a cotangent if that is elsewhere, and the repair."""
    try:
        run = Run(s)
        spot = run.of_value() if kind == "value" else None
        found = run.of_gradient() if kind == "gradient" else spot and (spot, None)
        strong = kind == "gradient" and _is_finite_with_strong_zeros(s)
    except Exception as error:  # it ran until now, but not one equation at a time
        return None, None, f"the equation is not known: {type(error).__name__}: {error}"
    if found is None:
        return None, None, "no single equation makes it: numbers overflow where they are summed"
    spot, meets = found
    return spot, meets, repair(run, spot, meets, strong)


def _is_finite_with_strong_zeros(s: Subject) -> bool:
    """Whether `strong_zeros` is all that it needs."""
    with strong_zeros():
        outs, pull = vjp(s, *s.xs)
        return all(map(is_finite, pull([np.ones_like(y) for y in outs])))


def _meeting(spot: Spot | None, meets: Spot | None) -> str:
    if spot is None or meets is None:
        return ""
    source = meets.step.source
    return (
        f"its result {_show(spot.result)} meets the cotangent {_show(meets.cotangent)} in "
        f"{meets.step.name} at {_place(source, _text(source))}"
    )


# ---------------------------------------------------------------- text


def _text(source: Source) -> str:
    return "" if source is None else linecache.getline(*source).strip()


def _place(source: Source, line: str) -> str:
    if source is None:
        return "an unknown line"
    return f"{os.path.basename(source[0])}:{source[1]}{': ' if line else ''}{line}"


def _show(x: Any) -> str:
    """An array in one line, shortened, with its type if that is not float64."""
    if isinstance(x, tuple):
        return f"({', '.join(map(_show, x))})"
    if x is None:
        return "none"
    x = np.asarray(x)
    with np.printoptions(precision=8, threshold=16, edgeitems=3, linewidth=10**6):
        text = " ".join(str(x if x.ndim else x[()]).split())
    return text if x.dtype in (np.float64, np.bool_) else f"{text} ({x.dtype})"
