"""Which code is faster is found out once: later runs begin with it and agree to the last bit."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import funcgrad
from funcgrad.compile import c_compiler, decisions, program, quick
from funcgrad.compile.decisions import Decision
from funcgrad.optim import in_place

pytestmark = pytest.mark.skipif(c_compiler.compiler() is None, reason="no C compiler")
X = np.linspace(0.1, 2.0, 500)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Decisions are kept here."""
    monkeypatch.setattr(decisions, "cache_folder", lambda: tmp_path / "cache")
    return tmp_path / "cache"


def test_other_printers_decide_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    printer = tmp_path / "printer.py"
    printer.touch()

    def code() -> str | None:
        decisions._here.cache_clear()
        return Decision("a program").code

    try:
        for place in (printer, tmp_path / "archive.zip" / "decisions.py"):
            monkeypatch.setattr(decisions, "__file__", str(place))
            assert code() is None
            Decision("a program").make("numpy")
            assert code() == "numpy"
        monkeypatch.setattr(decisions, "__file__", str(printer))
        assert code() == "numpy"
        os.utime(printer, (1, 1))
        assert code() is None
    finally:
        decisions._here.cache_clear()


def a_program() -> program.Program:
    jaxpr = funcgrad.make_jaxpr(lambda x: np.exp(np.sin(x)) * x + np.cos(x))(X)
    return program.Program(jaxpr, "auto")


def run_until_decided(made: program.Program) -> None:
    deadline = time.monotonic() + 60
    while made.decision.code is None and time.monotonic() < deadline:
        made.run(X)
    assert made.decision.code


@pytest.mark.parametrize("code", ["c", "numpy"])
def test_later_runs_begin_with_it(monkeypatch: pytest.MonkeyPatch, folder: Path, code: str) -> None:
    monkeypatch.setattr(program, "LONG", 0.0)
    first = a_program()
    assert first.decision.code is None and not first.c_source and not folder.exists()
    first._timed(X)
    first._best = 1.0 if code == "c" else 0.0
    run_until_decided(first)
    assert [f.suffix for f in folder.iterdir()] == [f".{code}"]
    second = a_program()
    assert second.decision.code == code == first.decision.code
    assert second.run != second._timed
    assert bool(second.c_source) == (code == "c")
    np.testing.assert_array_equal(second.run(X)[0], first.run(X)[0])


def test_loops_that_are_not_there_any_more(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nobody waits for the compiler: it is as if nothing had been decided."""
    a_program().decision.make("c")
    monkeypatch.setattr(c_compiler, "cache_folder", lambda: tmp_path / "empty")
    c_compiler._prelude()  # what is known of the compiler, before it is gone
    monkeypatch.setattr(c_compiler, "_build", lambda *_: pytest.fail("compiled"))
    made = a_program()
    assert not made.c_source and made.run == made._timed
    np.testing.assert_allclose(made.run(X)[0], np.exp(np.sin(X)) * X + np.cos(X))


def test_what_decisions_hold_for(monkeypatch: pytest.MonkeyPatch) -> None:
    Decision("a program").make("c")
    assert Decision("a program").code == "c"
    assert Decision("another").code is None
    with monkeypatch.context() as patch:
        patch.setattr(decisions, "_here", lambda: b"elsewhere")
        assert Decision("a program").code is None


def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(decisions, "cache_folder", lambda: tmp_path / "file" / "cache")
    decision = Decision("a program")
    decision.make("c")
    assert decision.code == "c" and Decision("a program").code is None
    assert a_program().run(X)[0].shape == X.shape


def until(is_so: Callable[[], Any], go_on: Callable[[], Any]) -> None:
    deadline = time.monotonic() + 60
    while not is_so() and time.monotonic() < deadline:
        go_on()
    assert is_so()


def test_loops_of_optimizers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_place, "LONG", 0.0)
    jaxpr = funcgrad.make_jaxpr(lambda p, g, lr: p - lr * np.tanh(g))(X, X, 0.5)
    first = in_place.InPlace(jaxpr, 0)
    assert not first._in_c
    until(lambda: first._in_c, lambda: first(X.copy(), X, 0.5))
    until(lambda: Decision(first.source).code == "c", lambda: None)
    second = in_place.InPlace(jaxpr, 0)
    assert second._in_c
    moved = [X.copy(), X.copy()]
    for loop, p in zip((first, second), moved, strict=True):
        loop(p, X, 0.5)
    np.testing.assert_array_equal(*moved)


@pytest.mark.skipif(not c_compiler.has_vector_functions(), reason="no C compiler for vectors")
def test_functions_of_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quick, "MANY", 0)
    asked: list[int] = []

    def plain(x: np.ndarray) -> np.ndarray:
        asked.append(x.size)
        return np.sin(x)

    def a_sine() -> Any:
        return quick.quick(plain, lambda: np.sin, ["float64"])

    first = a_sine()
    first(X)
    assert asked

    def is_in_c() -> bool:
        asked.clear()
        first(X)
        return not asked

    until(is_in_c, lambda: None)
    until(lambda: Decision(f"{np.sin} of float64").code == "c", lambda: None)
    asked.clear()
    np.testing.assert_array_equal(a_sine()(X), first(X))
    assert not asked


RUN = """
import os, sys, time
import compat as torch
from funcgrad.compile import program
torch.manual_seed(0)
model = torch.nn.Sequential(
    torch.nn.Linear(20, 30), torch.nn.LayerNorm(30), torch.nn.Softplus(), torch.nn.Linear(30, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
x = torch.randn(400, 20)

def is_decided():
    return any(f.endswith((".c", ".numpy")) for f in os.listdir(os.environ["FUNCGRAD_CACHE"]))

steps, start = 0, time.monotonic()
if sys.argv[1] == "long":
    program.LONG = 0.0
    steps = -1_000_000
while steps < 60:
    steps += 1
    passed = time.monotonic() - start
    if steps < 0 and passed > 5.0 and (is_decided() or passed > 100.0):
        break
    optimizer.zero_grad()
    loss = (model(x).sin() ** 2).mean()
    loss.backward()
    optimizer.step()
print(loss.item().hex())
"""


def test_runs_agree_to_the_last_bit(tmp_path: Path) -> None:
    """From the second one on, if the first was long enough to decide everything."""
    environment = {**os.environ, "FUNCGRAD_CACHE": str(tmp_path)}

    def loss(length: str) -> str:
        command = [sys.executable, "-c", RUN, length]
        return subprocess.run(
            command, env=environment, check=True, capture_output=True, text=True
        ).stdout

    loss("long")
    assert [f for f in tmp_path.iterdir() if f.suffix[1:] in decisions.CODES]
    assert loss("short") == loss("short")


SOURCES = """
import hashlib
import numpy as np
import compat as torch
from funcgrad.compile import program
told = []
class Told(program.Program):
    def __init__(self, *args):
        super().__init__(*args)
        told.append(self.source + self.c_source)
program.Program = Told
import funcgrad
torch.manual_seed(0)
model = torch.nn.TransformerEncoderLayer(16, 2, 32, 0.0, batch_first=True)
optimizer = torch.optim.Adam(model.parameters())
x = torch.randn(8, 40, 16)
@torch.compile
def step():
    optimizer.zero_grad()
    model(x).square().mean().backward()
    optimizer.step()
with funcgrad.config("c"):
    for _ in range(3):
        step()
print(len(told), hashlib.sha256("".join(told).encode()).hexdigest())
"""


def test_programs_are_printed_the_same_way_in_every_run() -> None:
    """Else nobody would know them again."""
    found = {
        subprocess.run(
            [sys.executable, "-c", SOURCES],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("0", "1", "2", "3")
    }
    assert len(found) == 1 and int(found.pop().split()[0]) > 0


def test_nothing_is_left_where_there_is_no_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Not even in the folder for temporary files, where libraries are made then."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr(c_compiler, "cache_folder", lambda: Path(os.devnull) / "funcgrad")
    library = c_compiler.library_of("int seven(void) { return 7; }\n")
    assert library is not None
    assert library.seven() == 7
    assert not list((tmp_path / "temporary").iterdir())


def test_a_user_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FUNCGRAD_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # as where there is none
    assert c_compiler.cache_folder() == Path(os.devnull) / "funcgrad"
    compiled = funcgrad.jit(lambda x: x * x + 1.0)
    assert compiled(3.0) == 10.0
