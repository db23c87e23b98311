"""``python -m compat``: what of PyTorch's surface is offered, as a table made from the code."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
import textwrap
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import compat
from compat import Tensor, ops


def families() -> Iterator[tuple[str, list[str]]]:
    """The families of functions in ``compat.ops``, and the other namespaces."""
    for info in pkgutil.iter_modules(ops.__path__):
        module = importlib.import_module(f"compat.ops.{info.name}")
        names = [n for n in getattr(module, "__all__", ()) if hasattr(compat, n)]
        if not info.name.startswith("_") and names:
            yield f"torch: {info.name}", names
    for info in pkgutil.iter_modules(compat.__path__, "compat."):
        name = info.name.removeprefix("compat.")
        if name.startswith("_") or name in ("ops", "guide"):
            continue
        yield from _namespace(f"torch.{name}", importlib.import_module(info.name))


def _namespace(label: str, module: ModuleType) -> Iterator[tuple[str, list[str]]]:
    public = list(getattr(module, "__all__", ()))
    if public and label != "torch.dtypes":
        yield label, public
    for info in pkgutil.iter_modules(getattr(module, "__path__", ()), f"{module.__name__}."):
        part = info.name.rpartition(".")[2]
        if part in ("functional", "graph", "forward_ad", "init", "utils", "checkpoint", "hooks"):
            yield from _namespace(f"{label}.{part}", importlib.import_module(info.name))


def methods() -> list[str]:
    """The public methods and attributes of `Tensor`."""
    return [n for n in dir(Tensor) if not n.startswith("_")]


def missing(found: list[tuple[str, list[str]]]) -> Iterator[tuple[str, list[str]]]:
    """What the installed PyTorch has in the same namespaces and this package does not."""
    torch: Any = importlib.import_module("torch")
    for label in dict.fromkeys(label.partition(":")[0] for label, _ in found):
        theirs: Any = torch
        ours: Any = compat
        for part in label.split(".")[1:]:
            theirs, ours = getattr(theirs, part, None), getattr(ours, part, None)
        names = [n for n in dir(theirs) if callable(getattr(theirs, n, None)) and n[0] != "_"]
        yield label, [n for n in names if not hasattr(ours, n)]
    yield "Tensor", [n for n in dir(torch.Tensor) if n[0] != "_" and not hasattr(Tensor, n)]


def show(label: str, names: list[str]) -> None:
    text = textwrap.wrap(", ".join(sorted(names)), 84) or [""]
    print(f"{label:<24} {len(names):>4}  {text[0]}")
    for line in text[1:]:
        print(" " * 31 + line)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m compat", description=__doc__)
    parser.add_argument(
        "--missing", action="store_true", help="what the installed PyTorch has beyond it"
    )
    args = parser.parse_args(argv)
    found = list(families())
    if args.missing:
        for label, names in missing(found):
            show(label, names)
        return 0
    print(f"{'namespace':<24} {'':>4}  what it offers")
    for label, names in found:
        show(label, names)
    show("Tensor", methods())
    print(f"\n{sum(len(names) for _, names in found)} names, {len(methods())} on Tensor.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
