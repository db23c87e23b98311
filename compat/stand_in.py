"""`sys.modules["torch"] = compat`: submodules under the borrowed name are the ones of this package.

Without this, ``import torch.nn`` would run `compat/nn` a second time as another module, with classes of
its own: a `torch.nn.Parameter` would then be no `compat.nn.Parameter`.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

PACKAGE = __name__.partition(".")[0]


class StandIn:
    """A finder and loader: what lies below an alias of this package is an alias too."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        root, _, rest = name.partition(".")
        if not rest or root == PACKAGE or sys.modules.get(root) is not sys.modules.get(PACKAGE):
            return None
        return ModuleSpec(name, StandIn)  # type: ignore[arg-type]

    @staticmethod
    def create_module(spec: ModuleSpec) -> ModuleType:
        own_name = f"{PACKAGE}.{spec.name.partition('.')[2]}"
        try:
            module = importlib.import_module(own_name)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{own_name}.".startswith(f"{error.name}."):
                raise
            raise ModuleNotFoundError(
                f"No module named {spec.name!r}: {own_name} stands for it and is not offered here",
                name=spec.name,
            ) from None
        # The import system writes the new spec into the module; the loader writes the old one back.
        spec.loader_state = module.__spec__
        return module

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        spec = module.__spec__
        assert spec is not None
        module.__spec__ = spec.loader_state


def install() -> None:
    """Put the finder in front of the one that would look into the package's folder."""
    if StandIn not in sys.meta_path:
        sys.meta_path.insert(0, StandIn)
