"""``python -m compat``: what of PyTorch's surface is offered, as a table made from the code."""

from __future__ import annotations

import argparse
import importlib
import os
import pkgutil
import sys
import textwrap
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import compat
from compat import Tensor, ops

NAMESPACES = (
    "accelerator",
    "amp",
    "autograd",
    "autograd.forward_ad",
    "autograd.functional",
    "autograd.graph",
    "autograd.profiler",
    "cuda",
    "distributions",
    "fft",
    "func",
    "linalg",
    "masked",
    "nn",
    "nn.functional",
    "nn.init",
    "nn.utils",
    "optim",
    "profiler",
    "random",
    "signal.windows",
    "sparse",
    "special",
    "utils.checkpoint",
    "utils.dlpack",
    "utils.hooks",
)
# Modules outside of `compat.ops` whose names are at the top, as PyTorch has them.
FAMILIES = (
    "dtypes",
    "size",
    "printing",
    "parameter",
    "autograd",
    "linalg.lowrank",
    "linalg.names",
    "linalg.reflections",
    "nn.aliases",
    "nn.native",
    "settings",
    "sparse.make",
    "storage",
)

Table = list[tuple[str, list[str]]]


def public(module: Any) -> list[str]:
    """The names that a module offers: no modules among them."""
    names = getattr(module, "__all__", None)
    if names is None:
        names = [n for n, x in vars(module).items() if _made_in(module, x)]
    return [n for n in names if n[0] != "_" and not isinstance(getattr(module, n), ModuleType)]


def _made_in(module: Any, x: Any) -> bool:
    return callable(x) and getattr(x, "__module__", None) == module.__name__


def families() -> Iterator[tuple[str, list[str]]]:
    """The names at the top by family; then the other namespaces."""
    left = {n for n, x in vars(compat).items() if n[0] != "_" and not isinstance(x, ModuleType)}
    parts = sorted(info.name for info in pkgutil.iter_modules(ops.__path__) if info.name[0] != "_")
    for path in [f"ops.{name}" for name in parts] + list(FAMILIES):
        names = left & set(public(importlib.import_module(f"compat.{path}")))
        left -= names
        if names:
            yield f"torch: {path.rpartition('.')[2] if path[:3] == 'ops' else path}", sorted(names)
    yield "torch: other", sorted(left)
    for path in NAMESPACES:
        yield f"torch.{path}", public(importlib.import_module(f"compat.{path}"))


def methods() -> list[str]:
    """The public methods and attributes of `Tensor`."""
    return [n for n in dir(Tensor) if not n.startswith("_")]


def missing(torch: Any) -> Iterator[tuple[str, list[str]]]:
    """What PyTorch documents in the same namespaces, as far as its code says, and is not here."""
    for path in ("", *NAMESPACES):
        theirs, ours = torch, compat
        for part in path.split(".") if path else ():
            theirs, ours = getattr(theirs, part), getattr(ours, part)
        names = [n for n in dir(theirs) if not hasattr(ours, n) and _documented(theirs, n)]
        yield f"torch.{path}".removesuffix("."), names
    found = [n for n in dir(torch.Tensor) if n[0] != "_" and not hasattr(Tensor, n)]
    yield "Tensor", [n for n in found if getattr(torch.Tensor, n).__doc__]


def _documented(module: Any, name: str) -> bool:
    """Whether a name is for users: PyTorch's own callable with a docstring, no type of its core."""
    x = getattr(module, name)
    home = str(getattr(x, "__module__", None) or "torch")
    ours = home.startswith("torch") and home not in ("torch.overrides", "torch._jit_internal")
    of_core = isinstance(x, type) and home in ("torch", "torch._C", "torch.jit")
    return name[0] != "_" and callable(x) and bool(x.__doc__) and ours and not of_core


def show(label: str, names: list[str]) -> None:
    text = textwrap.wrap(", ".join(sorted(names)), 84) or [""]
    print(f"{label:<24} {len(names):>4}  {text[0]}")
    for line in text[1:]:
        print(" " * 31 + line)


def tables(table: Table) -> None:
    for label, names in table:
        if names:
            show(label, names)
    tensor = sum(len(names) for label, names in table if label == "Tensor")
    print(f"\n{sum(len(names) for _, names in table) - tensor} names, {tensor} on Tensor.")


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m compat", description=__doc__)
    parser.add_argument(
        "--missing", action="store_true", help="what the installed PyTorch has beyond it"
    )
    args = parser.parse_args(argv)
    if args.missing:
        try:
            torch = importlib.import_module("torch")
        except ImportError:
            print("python -m compat --missing needs PyTorch: pip install torch", file=sys.stderr)
            return 1
        tables(list(missing(torch)))
        return 0
    print(f"{'namespace':<24} {'':>4}  what it offers")
    tables([*families(), ("Tensor", methods())])
    return 0


def run() -> int:
    """`main`, for a terminal: whoever reads may stop, and so may the user."""
    try:
        status = main()
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing at exit either
        return 0


if __name__ == "__main__":
    sys.exit(run())
