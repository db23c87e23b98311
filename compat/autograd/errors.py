"""The errors about saved values: what was recorded where, and what happened to it since."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.core import aval_of

from . import sites

MOST_WORK: Any = 10_000  # to find out whether two arrays of interleaved elements have one in common


def second_backward(node: Any) -> RuntimeError:
    """The error for a node whose saved values are gone."""
    return RuntimeError(
        f"Trying to backward through the graph a second time (or directly access saved tensors "
        f"after they have already been freed). Saved intermediate values of the graph are freed "
        f"when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to "
        f"backward through the graph a second time or if you need to access saved tensors after "
        f"calling backward. {node.name()} was recorded at {sites.describe(node.site)}; its values "
        f"were freed at {sites.describe(node.saved.site)}."
    )


def type_name(array: Any) -> str:
    """PyTorch's name of an array's type: ``torch.FloatTensor [2, 3]``."""
    names = {"float32": "Float", "float64": "Double", "float16": "Half", "int64": "Long"}
    dtype = aval_of(array).dtype.name
    kind = names.get(dtype, dtype.capitalize())
    return f"torch.{kind}Tensor {list(array.shape)}"


def require_unwritten(node: Any, saved: Any) -> None:
    """Raise if a saved value was written since, whose counter says that something was.

    Raises: RuntimeError: the value at hand is not what was saved.
    """
    if not _is_elsewhere(saved):
        raise _stale(node, saved)


def _is_elsewhere(saved: Any) -> bool:
    """Whether all writes since then were through `.data`, to other elements."""
    written = saved.counter[3:]
    since = saved.counter[0] - saved.version
    if not written or since > len(written[0]) or saved.array.__class__ is not np.ndarray:
        return False
    try:
        return not any(
            np.shares_memory(saved.array, w, max_work=MOST_WORK) for w in written[0][-since:]
        )
    except np.exceptions.TooHardError:
        return False


def _stale(node: Any, saved: Any) -> RuntimeError:
    counter = saved.counter
    output = f", which is output 0 of {node.name()}," if saved.is_result else ""
    what, place = counter[1:3]
    return RuntimeError(
        f"one of the variables needed for gradient computation has been modified by an inplace "
        f"operation: [{type_name(saved.array)}]{output} is at version {counter[0]}; expected "
        f"version {saved.version} instead. It was saved by {node.name()} at "
        f"{sites.describe(node.site)} and modified by {what} at {sites.describe(place)}. Use the "
        f"out-of-place operation there, or clone() the value before it is saved."
    )
