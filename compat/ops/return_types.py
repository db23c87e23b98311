"""The results that have names: ``torch.max(x, dim=0).values`` and its like.

They are tuples, so they unpack, and print as PyTorch's do.
"""

from __future__ import annotations

from operator import itemgetter
from typing import Any


class Named(tuple[Any, ...]):
    """A tuple whose entries can be asked for by name."""

    __slots__ = ()
    _fields: tuple[str, ...] = ()

    def __new__(cls, *values: Any) -> Named:
        return tuple.__new__(cls, values)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(self)

    def __repr__(self) -> str:
        entries = (f"{name}={x!r}" for name, x in zip(self._fields, self, strict=True))
        return f"torch.return_types.{type(self).__name__}(\n" + ",\n".join(entries) + ")"


def _named(name: str, *fields: str) -> Any:
    entries = {field: property(itemgetter(i)) for i, field in enumerate(fields)}
    facts = {"__slots__": (), "_fields": fields, "__module__": __name__, "__doc__": None}
    return type(name, (Named,), {**facts, **entries})


aminmax = _named("aminmax", "min", "max")
cummax = _named("cummax", "values", "indices")
cummin = _named("cummin", "values", "indices")
histogram = _named("histogram", "hist", "bin_edges")
kthvalue = _named("kthvalue", "values", "indices")
max = _named("max", "values", "indices")
median = _named("median", "values", "indices")
min = _named("min", "values", "indices")
mode = _named("mode", "values", "indices")
nanmedian = _named("nanmedian", "values", "indices")
sort = _named("sort", "values", "indices")
topk = _named("topk", "values", "indices")
