"""The calls in the tables of the other files, for what is to hold of every one of them."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

from harness import Call, _leaves_of, _tree, arrays_of

FILES = (
    "activation aliases complex convert cumulative embedding fourier functions index join linalg "
    "loss margins masked matrix norm_layers padding pointwise power reduce rounding shape sort"
)


def calls_in(x: Any) -> Iterator[Call]:
    if isinstance(x, Call):
        yield x
    elif isinstance(x, list | tuple):
        for y in x:
            yield from calls_in(y)


def calls_of(name: str) -> list[Call]:
    """The calls in the tables of a file, each once, that have an argument that is drawn."""
    module = importlib.import_module(f"test_{name}")
    found = {repr(c): c for table in vars(module).values() for c in calls_in(table)}
    return [c for c in found.values() if arrays_of(c, 0)]


def function_of(module: Any, c: Call) -> Callable[..., list[Any]]:
    """The call as a function of the arguments that are drawn, which gives its tensors."""
    named = {
        k: getattr(module, v[6:]) if isinstance(v, str) and v.startswith("torch.") else v
        for k, v in c.kwargs.items()
    }

    def f(*drawn: Any) -> list[Any]:
        remaining = iter(drawn)
        args = _tree(lambda d: next(remaining), list(c.args))
        kwargs = {k: _tree(lambda d: next(remaining), v) for k, v in named.items()}
        if c.name.startswith("."):
            first = args[0] * 1 if c.name.endswith("_") else args[0]
            out = getattr(first, c.name[1:])(*args[1:], **kwargs)
        else:
            g: Any = module
            for part in c.name.split("."):
                g = getattr(g, part)
            out = g(*args, **kwargs)
        return _leaves_of(out, module.Tensor)

    return f
