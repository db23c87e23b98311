"""`torch.masked`: functions of what a mask leaves of dense tensors; its `MaskedTensor` is not here.

A mask is True where an element counts; it is broadcast to the input's shape.

>>> import compat as torch
>>> x, mask = torch.tensor([1.0, 2.0, 4.0]), torch.tensor([True, False, True])
>>> torch.masked.mean(x, mask=mask)
tensor(2.5000)
"""

from .._missing import explain as _explain_missing
from . import normalizations, reductions
from .normalizations import *
from .reductions import *

__all__ = [*normalizations.__all__, *reductions.__all__]

_explain_missing("torch.masked", globals())
