"""`sys.modules["jax"] = funcgrad`: submodules under the borrowed name are the ones of the package.

Without this, ``import jax.numpy`` would run `funcgrad/numpy` a second time as another module, with
classes of its own: its tracers would be none to the first.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from types import ModuleType


@dataclass(frozen=True)
class StandIn:
    """A finder and loader: what lies below an alias of a package is an alias too."""

    package: str

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        root, _, rest = name.partition(".")
        own = sys.modules.get(self.package)
        if not rest or root == self.package or sys.modules.get(root) is not own:
            return None
        return ModuleSpec(name, self)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        own_name = f"{self.package}.{spec.name.partition('.')[2]}"
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

    def exec_module(self, module: ModuleType) -> None:
        spec = module.__spec__
        assert spec is not None
        module.__spec__ = spec.loader_state


def install(package: str) -> None:
    """Put the finder in front of the one that would look into the package's folder."""
    finder = StandIn(package)
    if finder not in sys.meta_path:
        sys.meta_path.insert(0, finder)
