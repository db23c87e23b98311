"""`torch.fx`: programs are not traced into graphs of modules here; see `funcgrad.make_jaxpr`.

`wrap`, which says that a function must stay one call in such a graph, has nothing to do.
"""

from __future__ import annotations

import sys as _sys
from typing import Any, NoReturn, TypeVar

from .._files import file_of as _file_of
from .._missing import explain as _explain_missing
from ..nn.module import Module

F = TypeVar("F")


def wrap(fn_or_name: F) -> F:
    """A function, or its name, as it is.

    Raises: RuntimeError: it is neither.
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError(
            "Unsupported type for global function! Must be either a callable or string name"
        )
    return fn_or_name


class Proxy:
    """What stands for a value while PyTorch records a graph of modules. There are none here."""


class GraphModule(Module):
    """The module that PyTorch makes of such a graph. There are none here."""


class Node:
    """An operation of such a graph. There are none here."""


def _refusal(name: str) -> NotImplementedError:
    return NotImplementedError(
        f"torch.fx.{name}: code is not recorded as a graph of modules here; funcgrad.make_jaxpr shows "
        f"the program of a function"
    )


class _NotMade:
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise _refusal(type(self).__name__)


class Graph(_NotMade):
    """The graph that PyTorch records.

    Raises: NotImplementedError: one is made.
    """


class Tracer(_NotMade):
    """What records such a graph; packages derive theirs from it.

    Raises: NotImplementedError: one is made.
    """


class GraphAppendingTracer(Tracer):
    """One that adds to a graph which is there.

    Raises: NotImplementedError: one is made.
    """


class Interpreter(_NotMade):
    """What runs such a graph node by node; packages derive theirs from it.

    Raises: NotImplementedError: one is made.
    """


def symbolic_trace(root: Any, concrete_args: Any = None) -> NoReturn:
    """Record the graph of a module.

    Raises: NotImplementedError: always.
    """
    raise _refusal("symbolic_trace")


for _file, _names in {
    "graph": "Graph",
    "graph_module": "GraphModule",
    "interpreter": "Interpreter",
    "node": "Node",
    "proxy": "Proxy GraphAppendingTracer",
}.items():
    globals()[_file] = _file_of(__name__, _file, [(_sys.modules[__name__], _names)])

_explain_missing("torch.fx", globals())
