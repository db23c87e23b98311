"""Source of a function as it is written: its lines, and the objects that they name; the function.

Layer 4½.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..choose import choose
from ..core import aval_of
from ..faster import FASTER
from ..short import reduced
from .steps import Step


class Source:
    """Lines of a function being written, and what they name."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.scope: dict[str, Any] = {"np": np}
        self.constants: dict[str, Any] = {}
        self._names: dict[int, str] = {}
        self._alive: list[Any] = []

    def bind(self, x: Any, name: str, also: dict[str, Any] | None = None) -> str:
        """The name of an object in the source."""
        found = self._names.get(id(x))
        if found is None:
            found = name if name not in self.scope else f"{name}_{len(self.scope)}"
            self._names[id(x)] = found
            self.scope[found] = x
            if also is not None:
                also[found] = x
            self._alive.append(x)
        return found

    def constant(self, x: Any) -> str:
        """The name of a number or array in the source."""
        return self.bind(x, f"k{len(self.constants)}", self.constants)

    def legend(self) -> list[str]:
        """A comment that says what the constants are."""
        shown = [f"{k} = {_shown(x)}" for k, x in self.constants.items()]
        return [f"# {', '.join(shown)}"] if shown else []

    def function(self, f: Any) -> str:
        """The name of a NumPy function or a primitive."""
        if f is choose:
            return self.bind(f, "choose")
        if f in FASTER:
            return self.bind(FASTER[f], f"fast_{f.__name__}")
        name = getattr(f, "__name__", "f").partition(" ")[0]  # C says more, for warnings
        prefix = "np" if isinstance(f, np.ufunc) or getattr(np, name, None) is f else "call"
        return self.bind(f, f"{prefix}_{name}")

    def reduced(self, step: Step, text: str) -> str:
        """A REDUCE step along a short axis of what is called `text`."""
        axes, keepdims = step.options
        call = self.bind(reduced, "reduced")
        return f"{call}({self.function(step.function)}, {text}, {axes!r}{', True' * keepdims})"


def _shown(x: Any) -> str:
    aval = aval_of(x)
    if aval.shape:
        return f"an array {aval}"
    number = repr(np.asarray(x).item())
    return number if aval.dtype.name in ("float64", "int64", "bool") else f"{aval.dtype}({number})"


def compiled(text: str, scope: dict[str, Any]) -> Callable[..., Any]:
    """The function `run` that a source defines."""
    exec(compile(text, "<funcgrad printed>", "exec"), scope)
    return scope.pop("run")  # no cycle, so what it holds is freed with it


def with_fallback(
    fast: Callable[..., Any], make_slow: Callable[[], Callable[..., Any]]
) -> Callable[..., Any]:
    """Another one, made once, where Python's `math` raises for what NumPy answers by inf or nan."""
    slow: Callable[..., Any] | None = None

    def run(*args: Any) -> Any:
        nonlocal slow
        try:
            return fast(*args)
        except (OverflowError, ZeroDivisionError, ValueError):  # NumPy has its own
            slow = slow or make_slow()
            return slow(*args)

    return run
