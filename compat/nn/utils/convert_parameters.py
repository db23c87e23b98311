"""Parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from funcgrad import numpy as fnp

from ...autograd import no_grad
from ...autograd.base import TensorBase
from ...autograd.tape import through
from ..module import typename

if TYPE_CHECKING:
    from ..._tensor import Tensor


def parameters_to_vector(parameters: Iterable[Any]) -> Tensor:
    """All parameters as one vector, in order.

    Raises: ValueError: there are none.

    >>> import compat as torch
    >>> parameters_to_vector([torch.tensor([[1.0, 2.0]]), torch.tensor([3.0])])
    tensor([1., 2., 3.])
    """
    given = list(parameters)
    if not given:
        raise ValueError("parameters_to_vector(): expected a non-empty list of Tensors")
    return through(lambda *xs: fnp.concatenate([x.reshape(-1) for x in xs]), *given)


def vector_to_parameters(vec: Any, parameters: Iterable[Any]) -> None:
    """Give the parameters, in order, the numbers of a vector, as views of its memory.

    Raises: TypeError: `vec` is no tensor.
    """
    if not isinstance(vec, TensorBase):
        raise TypeError(f"expected torch.Tensor, but got: {typename(vec)}")
    vector: Any = vec
    start = 0
    with no_grad():
        for p in parameters:
            stop = start + p._array.size
            p.data = vector[start:stop].reshape(p.shape)
            start = stop
