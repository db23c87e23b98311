"""Helpers around autograd: hook handles, checkpointing."""

from .._missing import explain as _explain_missing

_explain_missing("torch.utils", globals())
