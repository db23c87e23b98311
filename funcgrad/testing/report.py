"""What checks found: outcomes, the report that collects them, and the error that shows it.

Layer 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..errors import FuncgradError
from .kinks import Kink


class GradientError(FuncgradError, AssertionError):
    """A check of a derivative failed."""


class Outcome(NamedTuple):
    """What became of one check: `status` is "passed", "failed" or "skipped"."""

    name: str
    status: str
    detail: str = ""


class Report:
    """The outcomes of all checks of one function at one point.

    `ok`: nothing failed. `kinks`: operations that are not smooth at or near the point.
    ``report[name]`` is the outcome of one check. Printing a report gives a table.
    """

    def __init__(self, subject: str, outcomes: Sequence[Outcome], kinks: Sequence[Kink]) -> None:
        self.subject = subject
        self.outcomes = list(outcomes)
        self.kinks = list(kinks)

    @property
    def ok(self) -> bool:
        return not self.failures

    @property
    def failures(self) -> list[Outcome]:
        return [o for o in self.outcomes if o.status == "failed"]

    def __getitem__(self, name: str) -> Outcome:
        for outcome in self.outcomes:
            if outcome.name == name:
                return outcome
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return any(o.name == name for o in self.outcomes)

    def raise_if_failed(self) -> Report:
        """This report, if nothing failed.

        Raises: GradientError: something did; the message is the table.
        """
        if self.failures:
            raise GradientError(f"{self}")
        return self

    def __str__(self) -> str:
        width = max((len(o.name) for o in self.outcomes), default=0)
        verdict = "all right" if self.ok else "WRONG"
        if [o.name for o in self.failures] == ["differentiable"]:
            verdict = "there are none"
        lines = [f"gradients of {self.subject}: {verdict}"]
        lines += [
            f"  {o.name:<{width}}  {o.status}{': ' if o.detail else ''}{o.detail}"
            for o in self.outcomes
        ]
        lines += [f"  near a kink: {kink}" for kink in self.kinks]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Report of {self.subject}: {'ok' if self.ok else f'{len(self.failures)} failed'}>"
