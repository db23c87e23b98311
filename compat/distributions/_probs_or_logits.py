"""The two forms of the parameter of binary distributions."""

from __future__ import annotations

from typing import Any

import compat as torch

from .utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits


class BinaryParameter:
    """Probabilities of 1, given as they are or as ``log p - log(1 - p)``."""

    def _set_parameter(self, probs: Any, logits: Any, *others: Any) -> tuple[Any, ...]:
        """Keep the one that is given, broadcast with `others`, which are returned.

        Raises: ValueError: both are given or none is.
        """
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        name, given = ("probs", probs) if logits is None else ("logits", logits)
        *rest, self._param = broadcast_all(*others, given)
        self.__dict__[name] = self._param
        return tuple(rest)

    @lazy_property
    def logits(self) -> Any:
        """``log p - log(1 - p)``."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Any:
        """The probability of 1."""
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter."""
        return self._param.size()

    def _new(self, *args: Any, **kwargs: Any) -> Any:
        return self._param.new(*args, **kwargs)


def cross_entropy(logits: Any, target: Any) -> Any:
    """``-t log p - (1 - t) log(1 - p)`` of binary logits, element by element."""
    return torch.nn.functional.binary_cross_entropy_with_logits(logits, target, reduction="none")
