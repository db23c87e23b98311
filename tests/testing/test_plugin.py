"""The pytest plugin, in runs of its own."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import funcgrad_pytest as plugin

ROOT = Path(__file__).parent.parent.parent

PROGRAM = """
import os
import numpy as np
import pytest
import funcgrad
from funcgrad.testing import check_all, check_grads, given_gradients

@funcgrad.custom_jvp
def half(x):
    return np.sin(x)

half.defjvp(lambda primals, tangents: (half(*primals), tangents[0] * np.cos(primals[0]) / 2))

@given_gradients(x=np.zeros(2), only=["types", "numerical"])
def test_drawn(x):
    return half(x)

def test_by_hand():
    try:
        check_all(half, (np.ones(2),), only=["types", "numerical"]).raise_if_failed()
    except AssertionError as error:
        raise RuntimeError("in other words") from error

def test_group():
    errors = []
    for n in (1, 2):
        try:
            check_grads(half, (np.ones(n),), order=1)
        except AssertionError as error:
            errors.append(error)
    raise ExceptionGroup("both", errors)

def test_other():
    assert 1 == 2

@given_gradients(x=np.zeros(2), only=["types"])
def test_right(x):
    return np.sin(x)

def test_profile():
    assert os.environ.get("FUNCGRAD_PROFILE") == os.environ["EXPECTED"]
"""


def run(folder: Path, *options: str, **environment: str) -> tuple[int, str]:
    """Run pytest on the program, with this plugin and no other."""
    (folder / "test_program.py").write_text(PROGRAM, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    env = {k: v for k, v in os.environ.items() if k not in ("FUNCGRAD_PROFILE", "PYTEST_ADDOPTS")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "funcgrad_pytest", "--color=no", *options],
        cwd=folder,
        env={**env, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **environment},
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr


def sections(output: str) -> dict[str, str]:
    """What is said of every failed test."""
    body = output.partition("= FAILURES =")[2].partition("= short test summary")[0]
    parts = body.split("\n____")
    return {part.split()[1]: part for part in parts[1:]}


def test_the_table_is_in_the_report_of_a_failure(tmp_path: Path) -> None:
    status, output = run(tmp_path, "-k", "not profile")
    found = sections(output)
    assert status == 1
    assert set(found) == {"test_drawn", "test_by_hand", "test_group", "test_other"}
    header = "Checks of the gradients ---"
    assert {name: part.count(header) for name, part in found.items()} == {
        "test_drawn": 1,
        "test_by_hand": 1,
        "test_group": 2,
        "test_other": 0,
    }
    table = found["test_drawn"].partition(header)[2]
    assert "gradients of test_drawn: WRONG\n  types      passed\n  numerical  failed: " in table
    message = found["test_drawn"].partition(header)[0]
    assert "x = np.array([1.0, 1.0])" in message
    assert "types      passed" not in message  # the table is not there twice


@pytest.mark.parametrize("profile", ["dev", "ci", "nightly"])
def test_the_option_chooses_the_profile(profile: str, tmp_path: Path) -> None:
    options = ("-k", "right or test_profile", f"--gradients={profile}")
    status, output = run(tmp_path, *options, EXPECTED=profile, FUNCGRAD_PROFILE="weekly")
    assert status == 0, output
    assert "2 passed" in output


def test_an_unknown_profile_is_a_usage_error(tmp_path: Path) -> None:
    status, output = run(tmp_path, "--gradients=weekly")
    assert status == pytest.ExitCode.USAGE_ERROR
    assert "--gradients" in output
    assert "nightly" in output


def test_the_environment_is_left_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    for before in ("ci", None):
        if before is None:
            monkeypatch.delenv("FUNCGRAD_PROFILE", raising=False)
        else:
            monkeypatch.setenv("FUNCGRAD_PROFILE", before)
        config = pytest.Config.fromdictargs({}, [])
        monkeypatch.setattr(config, "getoption", lambda name, default: "nightly")
        plugin.pytest_configure(config)
        assert os.environ["FUNCGRAD_PROFILE"] == "nightly"
        plugin.pytest_unconfigure(config)
        assert os.environ.get("FUNCGRAD_PROFILE") == before


def test_the_plugin_is_announced() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"funcgrad": plugin.__name__}


def test_the_plugin_imports_nothing_but_pytest() -> None:
    source = ast.parse(Path(plugin.__file__).read_text(encoding="utf-8"))
    modules = {n.module for n in ast.walk(source) if isinstance(n, ast.ImportFrom)}
    modules |= {a.name for n in ast.walk(source) if isinstance(n, ast.Import) for a in n.names}
    assert modules == {"__future__", "collections.abc", "os", "pytest", "sys", "typing"}
    program = "import sys, funcgrad_pytest; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("False\n", "")
