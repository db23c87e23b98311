"""What solvers return: a dict whose entries are attributes, too."""

from __future__ import annotations

from typing import Any


class Result(dict[str, Any]):
    """Named results of a solver.

    >>> Result(x=1.0).x
    1.0
    """

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the result has no {name!r}; it has {', '.join(self)}") from None

    def __dir__(self) -> list[str]:
        return sorted(self)

    def __repr__(self) -> str:
        width = max(map(len, self), default=0)
        return "\n".join(f"{name:>{width}}: {value!r}" for name, value in self.items())
