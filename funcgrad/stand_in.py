"""`sys.modules["jax"] = funcgrad`: submodules under the borrowed name are the ones of the package.

Where there is an object of the name, as ``scipy.stats.norm`` is, it takes the place of the module.

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
from typing import Any

_WRITTEN = ("__name__", "__loader__", "__package__", "__path__", "__file__", "__spec__")


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

    def create_module(self, spec: ModuleSpec) -> Any:
        own_name = f"{self.package}.{spec.name.partition('.')[2]}"
        try:
            module: Any = importlib.import_module(own_name)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{own_name}.".startswith(f"{error.name}."):
                raise
            above, _, name = own_name.rpartition(".")
            module = getattr(sys.modules.get(above), name, None)
            if module is None:
                raise ModuleNotFoundError(
                    f"No module named {spec.name!r}: {own_name} stands for it and is not offered here",
                    name=spec.name,
                ) from None
        # The import system writes its own into the module; the loader writes the old back.
        spec.loader_state = {name: vars(module).get(name) for name in _WRITTEN}
        return module

    def exec_module(self, module: Any) -> None:
        for name, old in module.__spec__.loader_state.items():
            if old is None:
                vars(module).pop(name, None)
            else:
                setattr(module, name, old)


def install(package: str) -> None:
    """Put the finder in front of the one that would look into the package's folder."""
    finder = StandIn(package)
    if finder not in sys.meta_path:
        sys.meta_path.insert(0, finder)
