"""Results that are tuples and have more attributes than a tuple has elements, as SciPy's are.

Layer 3½.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from ...treedef import register_node


class Result:
    """Unpacked and indexed it has the attributes named in `_fields`, each found when it is asked for.

    All its attributes are children of a tree, so functions that are mapped or compiled may return it.

    >>> class Line(Result):
    ...     _fields = ("slope", "intercept")
    ...     slope, intercept, error = 2.0, 1.0, 0.5
    >>> slope, intercept = Line()
    >>> Line()[0], Line()[-1], Line()[:2], len(Line())
    (2.0, 1.0, (2.0, 1.0), 2)
    """

    _fields: ClassVar[tuple[str, ...]]

    def __init_subclass__(cls) -> None:
        def flatten(result: Any) -> tuple[Any, ...]:
            parts = result._parts()
            return tuple(parts.values()), tuple(parts), tuple(parts)

        def unflatten(names: Any, children: tuple[Any, ...]) -> Any:
            result = object.__new__(cls)
            vars(result).update(zip(names, children, strict=True))
            return result

        register_node(cls, flatten, unflatten)

    def _parts(self) -> dict[str, Any]:
        """What is kept of the result when a tree is taken apart."""
        return dict(vars(self))

    def __iter__(self) -> Iterator[Any]:
        return iter([getattr(self, name) for name in self._fields])

    def __len__(self) -> int:
        return len(self._fields)

    def __getitem__(self, i: Any) -> Any:
        found = self._fields[i]
        return (
            getattr(self, found)
            if isinstance(found, str)
            else tuple(getattr(self, name) for name in found)
        )
