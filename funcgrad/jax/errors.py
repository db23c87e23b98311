"""The errors of `funcgrad.errors` with the names that ``jax.errors`` has for them."""

from ..errors import ConcretizationError as ConcretizationTypeError
from ..errors import ConcretizationError as NonConcreteBooleanIndexError
from ..errors import ConcretizationError as TracerBoolConversionError
from ..errors import ConcretizationError as TracerIntegerConversionError
from ..errors import EscapedTracerError as UnexpectedTracerError
from ..errors import FuncgradError as JaxRuntimeError
from ..errors import HandoverError as TracerArrayConversionError

__all__ = [
    "ConcretizationTypeError",
    "JaxRuntimeError",
    "NonConcreteBooleanIndexError",
    "TracerArrayConversionError",
    "TracerBoolConversionError",
    "TracerIntegerConversionError",
    "UnexpectedTracerError",
]
