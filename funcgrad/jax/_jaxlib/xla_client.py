"""Types of devices and errors."""

from ..devices import Device
from ..errors import JaxRuntimeError as XlaRuntimeError

__all__ = ["Device", "XlaRuntimeError"]
