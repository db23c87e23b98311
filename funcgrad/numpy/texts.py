"""Arrays as text, for messages: a traced value shows its number, or its type where there is none."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import Tracer
from ..indexing import known


def _shown(function: Any, x: Any, args: tuple[Any, ...], options: dict[str, Any]) -> str:
    value = known(x) if isinstance(x, Tracer) else x
    return x.described() if value is None else function(value, *args, **options)


def array2string(a: Any, *args: Any, **options: Any) -> str:
    """The elements as text, without a type; NumPy's options.

    Shapes: ``a: (*a)``.   Dtypes: all.
    Derivative: none; the result is text.
    Raises: TypeError: an option that NumPy does not have.
    Source: NumPy reference, ``numpy.array2string``.

    >>> array2string(np.array([1.0, 2.0]), precision=2)
    '[1. 2.]'
    """
    return _shown(np.array2string, a, args, options)


def array_repr(arr: Any, *args: Any, **options: Any) -> str:
    """The array as text that names its type; NumPy's options.

    Shapes: ``arr: (*a)``.   Dtypes: all.
    Derivative: none; the result is text.
    Raises: TypeError: an option that NumPy does not have.
    Source: NumPy reference, ``numpy.array_repr``.

    >>> array_repr(np.array([1.0, 2.0]))
    'array([1., 2.])'
    """
    return _shown(np.array_repr, arr, args, options)


def array_str(a: Any, *args: Any, **options: Any) -> str:
    """The elements as text; NumPy's options.

    Shapes: ``a: (*a)``.   Dtypes: all.
    Derivative: none; the result is text.
    Raises: TypeError: an option that NumPy does not have.
    Source: NumPy reference, ``numpy.array_str``.

    >>> array_str(np.array([1.0, 2.0]))
    '[1. 2.]'
    """
    return _shown(np.array_str, a, args, options)
