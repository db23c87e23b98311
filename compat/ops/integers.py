"""What only integers have: gcd, lcm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from funcgrad.ops import arithmetic

from ..autograd.tape import record
from ._apply import finish, inplace
from ._elementwise import require_whole, tensors

if TYPE_CHECKING:
    from .._tensor import Tensor


def gcd(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """The greatest common divisor of the integers ``|input|`` and ``|other|``.

    Raises: NotImplementedError: no integers.

    >>> import compat as torch
    >>> torch.gcd(torch.tensor([12, 7]), torch.tensor(8))
    tensor([4, 1])
    """
    return _of_integers("gcd", arithmetic.gcd, input, other, out)


def lcm(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """The least common multiple of the integers ``|input|`` and ``|other|``.

    Raises: NotImplementedError: no integers.

    >>> import compat as torch
    >>> torch.lcm(torch.tensor([4, 7]), torch.tensor(6))
    tensor([12, 42])
    """
    return _of_integers("lcm", arithmetic.lcm, input, other, out)


def _of_integers(name: str, prim: Any, input: Any, other: Any, out: Any) -> Any:
    x, y = tensors(name, input, other)
    require_whole(f"{name}_cpu", x, y, booleans=False)
    return finish(name, record(prim, (x, y)), out, (x, y))


gcd_ = inplace(gcd)
lcm_ = inplace(lcm)

__all__ = ["gcd", "gcd_", "lcm", "lcm_"]
