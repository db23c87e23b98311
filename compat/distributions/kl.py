"""`kl_divergence`: how far a distribution is from another, ``E_p[log p(x) - log q(x)]``.

The pairs are registered in `_kl_same` (of one family) and `_kl_cross` (of two).
"""

from . import _kl_cross as _kl_cross
from . import _kl_same as _kl_same
from ._kl_registry import _KL_MEMOIZE, _KL_REGISTRY, _dispatch_kl, kl_divergence, register_kl

__all__ = [
    "_KL_MEMOIZE",
    "_KL_REGISTRY",
    "_dispatch_kl",
    "kl_divergence",
    "register_kl",
]
