"""The distribution `Chi2`."""

from __future__ import annotations

from typing import Any, ClassVar

from . import constraints
from .gamma import Gamma


class Chi2(Gamma):
    """The sum of the squares of `df` standard normal variables: ``Gamma(df / 2, 1 / 2)``.

    Raises: ValueError: `df` is not positive.

    >>> Chi2(3.0).mean
    tensor(3.)
    """

    arg_constraints: ClassVar[Any] = {"df": constraints.positive}

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return super().expand(batch_shape, self._get_checked_instance(Chi2, _instance))

    @property
    def df(self) -> Any:
        """The degrees of freedom."""
        return self.concentration * 2
