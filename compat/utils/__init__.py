"""Helpers around autograd: hook handles, checkpointing."""

import typing as _typing

from .._missing import explain as _explain_missing

if _typing.TYPE_CHECKING:  # they need the tensors: `compat` imports them after those
    from . import checkpoint as checkpoint
    from . import data as data
    from . import dlpack as dlpack
    from . import hooks as hooks

_explain_missing("torch.utils", globals(), ("deterministic",))
