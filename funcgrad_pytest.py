"""The pytest plugin: the option `--gradients`, and the table under a failed gradient test.

pytest loads it in every run of everybody who has funcgrad. So it lies outside of the package, which
would load NumPy, imports nothing but pytest, and finds in `sys.modules` what a gradient test has
loaded by then. The profile travels to `given_gradients` in the environment, which also reaches the
workers of pytest-xdist.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterator
from typing import Any

import pytest

VARIABLE = "FUNCGRAD_PROFILE"
_BEFORE = pytest.StashKey[str | None]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--gradients`."""
    parser.getgroup("funcgrad", "tests of gradients").addoption(
        "--gradients",
        choices=["dev", "ci", "nightly"],
        help="how many examples @given_gradients tries: dev (few, new ones in every run), ci (more, "
        f"the same in every run) or nightly (many); the default is ${VARIABLE}, or else dev",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Pass the option on, before any test module is imported."""
    profile = config.getoption("--gradients", default=None)
    if profile is not None:
        config.stash[_BEFORE] = os.environ.get(VARIABLE)
        os.environ[VARIABLE] = profile


def pytest_unconfigure(config: pytest.Config) -> None:
    """Leave the environment as it was."""
    if _BEFORE in config.stash:
        before = config.stash[_BEFORE]
        if before is None:
            os.environ.pop(VARIABLE, None)
        else:
            os.environ[VARIABLE] = before


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Give the report of a failed gradient test a section with the table of its checks."""
    report = yield
    if call.excinfo is not None and report.failed:
        tables = dict.fromkeys(_tables(call.excinfo.value, set()))
        report.sections += [("Checks of the gradients", table) for table in tables]
    return report


def _tables(error: BaseException | None, seen: set[int]) -> Iterator[str]:
    """The tables of the gradient errors in `error`, its causes and its parts."""
    kind: Any = getattr(sys.modules.get("funcgrad.testing.report"), "GradientError", None)
    if error is None or kind is None or id(error) in seen:
        return
    seen.add(id(error))
    if isinstance(error, kind):
        yield str(getattr(error, "report", error))
    for part in (*getattr(error, "exceptions", ()), error.__cause__, error.__context__):
        yield from _tables(part, seen)
