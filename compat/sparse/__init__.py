"""`torch.sparse`: tensors of which most elements are zero, in coordinate form."""

from .._missing import explain as _explain_missing
from . import rules as rules
from .functions import addmm, log_softmax, mm, softmax, sum
from .make import DoubleTensor, FloatTensor, IntTensor, LongTensor

__all__ = [
    "DoubleTensor",
    "FloatTensor",
    "IntTensor",
    "LongTensor",
    "addmm",
    "log_softmax",
    "mm",
    "softmax",
    "sum",
]

_explain_missing("torch.sparse", globals())
