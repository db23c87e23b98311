"""What is said of names of PyTorch's that are not here."""

from __future__ import annotations

import difflib
import importlib
from typing import Any

_ADVICE = {"torch.bfloat16": "torch.bfloat16 needs the package ml_dtypes: pip install ml_dtypes"}


def explain(label: str, namespace: dict[str, Any], later: tuple[str, ...] = ()) -> None:
    """Give a module that PyTorch calls `label` a `__getattr__` whose error says where to look.

    `later`: its submodules that are imported when they are first asked for.

    It is put into the module's `namespace` from here so that type checkers go on knowing the names.
    """

    def __getattr__(name: str) -> Any:
        if name in later:
            return importlib.import_module(f"{namespace['__name__']}.{name}")
        said = _ADVICE.get(f"{label}.{name}")
        if said is None:
            near = difflib.get_close_matches(name, namespace, 1, 0.8)
            meant = f" Did you mean {label}.{near[0]}?" if near and name[0] != "_" else ""
            said = (
                f"{label}.{name} is not offered here yet; `python -m compat` lists what is.{meant}"
            )
        # With another `obj` Python would suggest some name of its own.
        raise AttributeError(said, name=name, obj=None)

    namespace["__getattr__"] = __getattr__
    if later:
        namespace["__dir__"] = lambda: sorted({*namespace, *later})
