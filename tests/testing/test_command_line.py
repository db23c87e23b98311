"""``python -m funcgrad.testing``: what it finds, draws, prints and returns."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from funcgrad.testing import GradientError
from funcgrad.testing import __main__ as command

PROGRAM = """
import sys, time
import numpy as np
import funcgrad
from numpy.typing import NDArray
from funcgrad.testing import given_gradients

def entropy(x, y=np.ones(3)):
    return np.sum(x * np.log(x / y))

def kinky(x: np.ndarray, n: int, eps: float = 0.5, mode="max", *, flag: bool):
    assert type(n) is int and type(flag) is bool and mode == "max"
    return np.maximum(np.abs(x) + eps, 1.0) ** n

def single(x: NDArray[np.float32], *, scale: float):
    return x * scale

def number(x):
    assert np.ndim(x) == 0
    return 2.0 * x

def matrix(a):
    return np.linalg.inv(a)

def tree(p):
    return p["w"] @ p["x"]

def many(*xs, **more):
    return sum(np.sum(x ** 2) for x in (*xs, *more.values()))

def unannotated(x: 'Missing'):
    return x * x

@funcgrad.custom_jvp
def half(x):
    return np.sin(x)

half.defjvp(lambda primals, tangents: (half(*primals), tangents[0] * np.cos(primals[0]) / 2))

@given_gradients(x=np.zeros(3))
def test_half(x):
    return half(x)

def forgot(x):
    np.sin(x)

def refuses(x):
    raise ValueError("no\\nway")

def nowhere(x):
    return np.log(-1 - x * x)

def sometimes(x):
    if x[0] < 0:
        raise ValueError("negative")
    return x

def nothing():
    return 1.0

def slow(x):
    print("started", flush=True)
    time.sleep(60)

class Namespace:
    @staticmethod
    def square(x):
        return x * x

VALUE = 3
""".replace("x: Missing", "x: 'Missing'")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "subjects.py").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "broken.py").write_text("import nowhere_to_be_found\n", encoding="utf-8")
    (tmp_path / "ends.py").write_text("raise SystemExit(3)\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delenv("FUNCGRAD_PROFILE", raising=False)
    for name in ("subjects", "broken", "ends"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield tmp_path
    for name in ("subjects", "subjects_"):
        sys.modules.pop(name, None)


def program(*args: str) -> list[str]:
    return [sys.executable, "-m", "funcgrad.testing", *args]


@pytest.fixture
def cli(folder: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Run `main`; the status and what is printed."""

    def run(*args: str) -> tuple[int, str, str]:
        status = command.main(["--examples=4", *args])
        return status, *capsys.readouterr()

    return run


def counts(output: str) -> dict[str, tuple[int, int, int]]:
    """The table: passed, failed and skipped by check."""
    found = {}
    for line in output.splitlines()[2:]:
        if not line.startswith("  ") or line.startswith("   "):
            break
        name, numbers = line[:17].strip(), line.split()
        digits = [int(n) for n in numbers if n.isdigit()][:3]
        found[name.rstrip(" 0123456789") or name] = (digits[0], digits[1], digits[2])
    return found


# ---------------------------------------------------------------- functions and arguments


@pytest.mark.parametrize(
    "args",
    [
        ["subjects:entropy"],
        ["subjects.py:entropy"],
        ["subjects:kinky"],
        ["subjects:single"],
        ["subjects:number"],
        ["subjects:matrix"],
        ["subjects:unannotated"],
        ["subjects:Namespace.square"],
        ["subjects:entropy", "--domain", "x=positive(3)", "--domain", "y=unit(3, margin=0.2)"],
        ["subjects:entropy", "--domain", "x=np.ones(3)", "--domain=y=2.0"],
        ["subjects:tree", "--domain", "p={'w': floats((2, 3), -1, 1), 'x': positive(3)}"],
        ["subjects:many", "--domain", "xs=positive(3)", "--domain", "a=spd(2)"],
        ["subjects:matrix", "--domain", "a=fs.orthogonal(st.integers(1, 2))"],
        ["numpy:hypot"],
        ["funcgrad.numpy:sinh"],
    ],
    ids=" ".join,
)
def test_right_derivatives(args: list[str], cli: Any) -> None:
    status, output, errors = cli(*args, "--only=types,numerical")
    assert (status, errors) == (0, "")
    first, *_ = output.splitlines()
    assert first.startswith(f"gradients of {args[0]}, ")
    assert first.endswith("s: all right")
    assert set(counts(output)) == {"types", "numerical"}
    assert counts(output)["types"][1:] == (0, 0)


def test_the_default_is_all_checks(cli: Any) -> None:
    status, output, _ = cli("subjects:Namespace.square")
    assert status == 0
    assert {"deterministic", "transpose", "vmap", "second order"} <= set(counts(output))
    assert ", 4 examples in " in output
    assert "second order" not in cli("subjects:Namespace.square", "--order=1")[1]


def test_higher_orders(cli: Any) -> None:
    status, output, _ = cli("subjects:Namespace.square", "--order=3", "--only=types")
    assert status == 0
    assert "order 3" in output


def test_a_wrong_rule(cli: Any, folder: Path) -> None:
    status, output, errors = cli("subjects:half", "--only=types,numerical")
    assert (status, errors) == (1, "")
    assert ": WRONG\n" in output
    assert counts(output) == {"types": (4, 0, 0), "numerical": (0, 4, 0)}
    assert "the first failure: numerical: the tangent" in output
    assert "a factor 2 is missing" in output
    snippet = "import numpy" + output.partition("\nimport numpy")[2]
    assert "from subjects import half\n" in snippet
    with pytest.raises(GradientError, match="numerical  failed"):
        exec(snippet, {})


def test_a_gradient_test_stands_for_its_body(cli: Any) -> None:
    status, output, _ = cli("subjects:test_half", "--only=numerical")
    assert status == 1
    assert "check_all(test_half.function, (x,), " in output


def test_kinks_are_listed(cli: Any, folder: Path) -> None:
    _, output, _ = cli(
        "subjects:kinky", "--domain=x=st.just(np.zeros(3))", "--domain=eps=st.just(1.0)"
    )
    assert "\nkinks met:\n" in output
    line = PROGRAM[: PROGRAM.index("np.maximum")].count("\n") + 1
    place = f"{folder / 'subjects.py'}:{line}"
    assert f"  absolute at {place}: 4 times, the nearest at margin 0\n" in output


def test_skips_have_a_reason(cli: Any) -> None:
    _, output, _ = cli("subjects:tree", "--domain=p={'w': np.zeros((2, 3)), 'x': np.zeros(3)}")
    assert "the operands have no first axis in common" in output


def test_what_the_function_raises_is_a_failure(cli: Any) -> None:
    status, output, _ = cli("subjects:sometimes", "--domain=x=floats(3, -1, 1)", "--only=types")
    assert status == 1
    assert "the first failure: the call: ValueError: negative" in output


def test_the_seed_decides(cli: Any) -> None:
    def snippets(seed: int) -> str:
        args = ("--domain=x=floats(9, -3, 3)", "--only=numerical", f"--seed={seed}")
        return cli("subjects:half", *args)[1].partition("first failure")[2]

    assert snippets(1) == snippets(1) != snippets(2)


def test_results_that_are_not_finite_are_left_out(cli: Any) -> None:
    args = ("--domain=x=floats(1, -3, 3)", "--only=types", "--examples=30")
    status, output, _ = cli("numpy:log", *args)
    assert status == 0
    assert "more, where the results are not finite, are left out" in output


# ---------------------------------------------------------------- bad usage


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["numpy.sin"], "need module:function, as in numpy:sin"),
        (["subjects.py"], "'subjects.py' names no function"),
        (["subjects:entrpy"], "there is no 'entrpy' in subjects; did you mean entropy?"),
        (["subjects:Namespace.sqare"], "in subjects:Namespace; did you mean square?"),
        (["subject:entropy"], "there is no module 'subject'; did you mean subjects"),
        (["numpy.linlag:inv"], "there is no module 'numpy.linlag'; did you mean linalg"),
        (["subject.py:entropy"], "there is no file subject.py; did you mean subjects.py?"),
        (["broken:f"], "importing broken fails: ModuleNotFoundError: "),
        (["broken.py:f"], "importing broken.py fails: ModuleNotFoundError: "),
        (["ends:f"], "importing ends fails: SystemExit: 3"),
        (["subjects:VALUE"], "subjects:VALUE is no function, but of type int"),
        (["subjects:tree"], 'say --domain "p=positive(3)"'),
        (["subjects:refuses"], "refuses such (ValueError: no way)"),
        (["subjects:nowhere"], "is finite for none such"),
        (["subjects:forgot"], "forgot returns no floating or complex array"),
        (["subjects:forgot", "--domain=x=positive(3)"], "forgot returns no floating"),
        (["subjects:nothing"], "nothing() has nothing to draw\n"),
        (["subjects:many"], '"xs=positive(3)"'),
        (["subjects:nowhere", "--domain=x=positive(3)"], "finite nowhere"),
        (["subjects:entropy", "--domain=z=positive(3)"], "no parameter 'z'; it has x, y"),
        (["subjects:entropy", "--domain=x=positve(3)"], "did you mean positive?"),
        (["subjects:entropy", "--domain=x=positive(3"], "SyntaxError"),
        (["subjects:entropy", "--domain=positive(3)"], "need name=domain"),
        (["subjects:entropy", "--only=numercial"], "did you mean numerical?"),
        (["subjects:entropy", "--order=0"], "order=0"),
        (["subjects:entropy", "--examples=0"], "--examples 0"),
    ],
    ids=lambda x: " ".join(x) if isinstance(x, list) else "",
)
def test_bad_usage_is_one_line(args: list[str], message: str, cli: Any) -> None:
    status, output, errors = cli(*args)
    assert (status, output) == (2, "")
    assert message in errors
    assert errors.startswith("python -m funcgrad.testing: ")
    assert len(errors.splitlines()) == 1


def test_an_unknown_profile(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUNCGRAD_PROFILE", "weekly")
    assert command.main(["subjects:entropy"]) == 2


# ---------------------------------------------------------------- the program


def test_the_program(folder: Path) -> None:
    args = ["subjects.py:half", "--only=numerical", "--examples=3"]
    done = subprocess.run(program(*args), capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "")
    assert ", 3 examples in " in done.stdout
    assert "\r" not in done.stdout
    done = subprocess.run(program(), capture_output=True, text=True)
    assert done.returncode == 2
    assert "usage: python -m funcgrad.testing" in done.stderr


def test_without_hypothesis(folder: Path) -> None:
    (folder / "hypothesis.py").write_text("raise ImportError('not here')\n", encoding="utf-8")
    done = subprocess.run(program("subjects:entropy"), capture_output=True, text=True)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="signals and pipes of POSIX")
@pytest.mark.skipif(
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN,
    reason="the shell that runs the tests in the background has switched the signal off",
)
def test_interrupted(folder: Path) -> None:
    args = program("subjects:slow", "--domain=x=positive(3)")
    with subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "started\n"
        run.send_signal(signal.SIGINT)
        output, errors = run.communicate()
    assert (run.returncode, output, errors) == (130, "", "")


@pytest.mark.skipif(sys.platform == "win32", reason="signals and pipes of POSIX")
def test_nobody_reads_on(folder: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    args = program("subjects:entropy", "--examples=1", "--only=types")
    done = subprocess.run(args, stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, "")


def test_progress_on_a_terminal(
    cli: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    _, _, errors = cli("subjects:half", "--only=numerical")
    steps = errors.split("\r\x1b[K")
    assert steps == ["", *(f"{n} of 4 examples, {n} failed" for n in range(1, 5)), ""]


def test_trials_know_a_few_ranges() -> None:
    found = command.arguments_of(np.arcsin, {}).by_name["x"]
    values: list[Any] = []
    command.drawn(values.append, found, 20, 0)
    elements = np.concatenate(values)
    assert np.all((elements > 0) & (elements < 1))
