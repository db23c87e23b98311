"""Arrays of one dtype, that all of them fit into."""

from __future__ import annotations

from typing import Any

from .... import numpy as fnp
from ....scipy._arrays import floating
from ..dtypes import to_complex_dtype

__all__ = ["promote_dtypes", "promote_dtypes_complex", "promote_dtypes_inexact"]


def promote_dtypes(*args: Any) -> list[Any]:
    """The arrays in their common dtype.

    >>> [x.dtype.name for x in promote_dtypes(fnp.ones(2, "int32"), fnp.ones(2, "float32"))]
    ['float64', 'float64']
    """
    dtype = fnp.result_type(*args)
    return [fnp.asarray(x, dtype) for x in args]


def promote_dtypes_complex(*args: Any) -> list[Any]:
    """The arrays in their common dtype's complex one.

    >>> promote_dtypes_complex(fnp.ones(2, "float32"))[0].dtype
    dtype('complex64')
    """
    dtype = to_complex_dtype(fnp.result_type(*args))
    return [fnp.asarray(x, dtype) for x in args]


def promote_dtypes_inexact(*args: Any) -> list[Any]:
    """The arrays in their common dtype, floating for integers.

    >>> promote_dtypes_inexact(fnp.ones(2, "int32"))[0].dtype
    dtype('float64')
    """
    return [floating(x) for x in promote_dtypes(*args)]
