"""What MyGrad raises."""

from __future__ import annotations

__all__ = ["DisconnectedView", "InvalidBackprop", "InvalidGradient", "MyGradException"]


class MyGradException(Exception):
    """Base class of MyGrad's exceptions."""


class InvalidGradient(MyGradException):
    """An operation's `backward_var` gave what is no gradient of its argument."""


class InvalidBackprop(MyGradException):
    """A pass goes back through a graph of which a part has been cleared."""


class DisconnectedView(MyGradException):
    """A view is written into that no graph links to its base."""
