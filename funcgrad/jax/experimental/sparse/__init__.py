"""Names of JAX's sparse arrays: here they are SciPy's."""

from ..._absent import absent
from . import linalg

__all__ = ["BCOO", "BCSR", "linalg", "sparsify"]

_INSTEAD = "a matrix of scipy.sparse times a traced array is differentiated as it is"

BCOO = absent("BCOO", _INSTEAD)
BCSR = absent("BCSR", _INSTEAD)
sparsify = absent("sparsify", _INSTEAD)
