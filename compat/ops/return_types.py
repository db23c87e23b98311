"""The results that have names: ``torch.max(x, dim=0).values`` and its like.

They are tuples, so they unpack, and print as PyTorch's do. Transforms take them apart like named
tuples (`funcgrad/tree.py`), which they know by `_fields` and `_make`.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import Any


class Named(tuple[Any, ...]):
    """A tuple whose entries can be asked for by name."""

    __slots__ = ()
    _fields: tuple[str, ...] = ()

    def __new__(cls, *values: Any) -> Named:
        return tuple.__new__(cls, values)

    @classmethod
    def _make(cls, values: Iterable[Any]) -> Named:
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


_lu_with_info = _named("_lu_with_info", "LU", "pivots", "info")
aminmax = _named("aminmax", "min", "max")
cummax = _named("cummax", "values", "indices")
cummin = _named("cummin", "values", "indices")
geqrf = _named("geqrf", "a", "tau")
histogram = _named("histogram", "hist", "bin_edges")
histogramdd = _named("histogramdd", "hist", "bin_edges")
kthvalue = _named("kthvalue", "values", "indices")
linalg_cholesky_ex = _named("linalg_cholesky_ex", "L", "info")
linalg_eig = _named("linalg_eig", "eigenvalues", "eigenvectors")
linalg_eigh = _named("linalg_eigh", "eigenvalues", "eigenvectors")
linalg_inv_ex = _named("linalg_inv_ex", "inverse", "info")
linalg_ldl_factor = _named("linalg_ldl_factor", "LD", "pivots")
linalg_ldl_factor_ex = _named("linalg_ldl_factor_ex", "LD", "pivots", "info")
linalg_lstsq = _named("linalg_lstsq", "solution", "residuals", "rank", "singular_values")
linalg_lu = _named("linalg_lu", "P", "L", "U")
linalg_lu_factor = _named("linalg_lu_factor", "LU", "pivots")
linalg_lu_factor_ex = _named("linalg_lu_factor_ex", "LU", "pivots", "info")
linalg_qr = _named("linalg_qr", "Q", "R")
linalg_slogdet = _named("linalg_slogdet", "sign", "logabsdet")
linalg_solve_ex = _named("linalg_solve_ex", "result", "info")
linalg_svd = _named("linalg_svd", "U", "S", "Vh")
lu_unpack = _named("lu_unpack", "P", "L", "U")
max = _named("max", "values", "indices")
median = _named("median", "values", "indices")
min = _named("min", "values", "indices")
mode = _named("mode", "values", "indices")
nanmedian = _named("nanmedian", "values", "indices")
qr = _named("qr", "Q", "R")
slogdet = _named("slogdet", "sign", "logabsdet")
sort = _named("sort", "values", "indices")
svd = _named("svd", "U", "S", "V")
topk = _named("topk", "values", "indices")
triangular_solve = _named("triangular_solve", "solution", "cloned_coefficient")
