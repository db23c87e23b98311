"""What is offered: the table of ``python -m compat``, and what is said of names that are not there."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import traceback
from types import ModuleType
from typing import Any

import pytest

import compat
from compat import __main__ as table


def offered() -> dict[str, list[str]]:
    return dict(table.families())


def test_every_public_name_is_in_the_table_once() -> None:
    found = [n for label, names in offered().items() if label.startswith("torch: ") for n in names]
    public = {n for n, x in vars(compat).items() if n[0] != "_" and not isinstance(x, ModuleType)}
    assert sorted(found) == sorted(public)
    for name in ("float32", "finfo", "iinfo", "promote_types", "set_default_dtype", "lu_unpack"):
        assert name in found


def test_namespaces_are_pytorchs_and_hold_no_modules() -> None:
    found = offered()
    for label, names in found.items():
        module: Any = compat
        for part in label.split(".")[1:] if ":" not in label else ():
            module = getattr(module, part)
        assert names, label
        assert not [n for n in names if isinstance(getattr(module, n), ModuleType)]
    assert {"torch.nn.init", "torch.nn.utils", "torch.optim"} <= set(found)
    assert not {"torch.printing", "torch.size", "torch.dtypes", "torch.checks"} & set(found)


def test_namespaces_exist_in_pytorch() -> None:
    pytest.importorskip("torch")
    for path in table.NAMESPACES:
        assert importlib.util.find_spec(f"torch.{path}") is not None


def test_what_is_missing_is_for_users() -> None:
    torch = pytest.importorskip("torch")
    found = dict(table.missing(torch))
    assert {"lobpcg", "quantize_per_tensor"} <= set(found["torch"])
    assert "SparseAdam" in found["torch.optim"]
    names = [n for names in found.values() for n in names]
    assert not {"AliasDb", "AnyType", "Optional", "handle_torch_function"} & set(names)
    assert not [n for n in names if n.startswith("_")]


def run(*args: str, code: str = "") -> subprocess.CompletedProcess[str]:
    start = f"import sys; sys.argv[1:] = {list(args)}; {code}"
    program = f"{start}; from compat.__main__ import run; sys.exit(run())"
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_without_pytorch_one_line_says_so() -> None:
    done = run("--missing", code="sys.modules['torch'] = None")
    assert done.returncode == 1
    assert done.stderr == "python -m compat --missing needs PyTorch: pip install torch\n"
    assert done.stdout == ""


def test_an_interrupt_is_quiet() -> None:
    stop = "import compat.__main__ as m\ndef main(): raise KeyboardInterrupt\nm.main = main\n"
    done = run(code=f"exec({stop!r})")
    assert done.returncode == 130
    assert done.stderr == ""


def test_a_reader_may_stop() -> None:
    command = [sys.executable, "-m", "compat"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(120) == 0


# ---------------------------------------------------------------- names that are not there


MISSING = [
    ("torch", "lobpcg"),
    ("torch.nn", "CrossMapLRN2d"),
    ("torch.nn.functional", "scaled_mm"),
    ("torch.optim", "SparseAdam"),
    ("torch.utils", "tensorboard"),
]


@pytest.mark.parametrize(("label", "name"), MISSING)
def test_a_missing_name_says_where_to_look(label: str, name: str) -> None:
    module = importlib.import_module(label.replace("torch", "compat"))
    assert not hasattr(module, name)
    with pytest.raises(AttributeError) as caught:
        getattr(module, name)
    expected = f"{label}.{name} is not offered here yet; `python -m compat` lists what is."
    assert str(caught.value) == expected
    shown = "".join(traceback.format_exception(caught.value))
    assert "Did you mean" not in shown


def test_a_name_that_is_nearly_right_is_suggested() -> None:
    with pytest.raises(AttributeError, match=r"Did you mean torch\.tensor\?$"):
        compat.tensr  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'lobpcg'"):
        exec("from compat import lobpcg")


def test_bfloat16_says_what_it_needs() -> None:
    done = run(code="sys.modules['ml_dtypes'] = None; import compat; compat.bfloat16")
    assert done.stderr.endswith(
        "AttributeError: torch.bfloat16 needs the package ml_dtypes: pip install ml_dtypes\n"
    )
