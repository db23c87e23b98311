"""`torch._dynamo`: scripts set its options. `compat.compile` has none of them, and needs none."""

from __future__ import annotations

from types import SimpleNamespace

from .._missing import explain as _explain_missing
from ..compiler import allow_in_graph as allow_in_graph
from ..compiler import disable as disable
from ..compiler import is_compiling as is_compiling
from ..compiler import list_backends as list_backends
from ..compiler import reset as reset
from . import eval_frame as eval_frame
from . import utils as utils
from .eval_frame import OptimizedModule as OptimizedModule

config = SimpleNamespace(
    suppress_errors=False, cache_size_limit=8, recompile_limit=8, verbose=False
)


def mark_dynamic(t: object, index: object, **options: object) -> None:
    """Nothing: a program is made for each size."""


def mark_static_address(t: object, guard: bool = True) -> None:
    """Nothing: programs look up where tensors are."""


def graph_break(msg: str = "") -> None:
    """Nothing: a program holds all of a function, or it runs as it is."""


_explain_missing("torch._dynamo", globals())
