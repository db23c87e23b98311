"""The errors about saved values: what was recorded where, and what happened to it since."""

from __future__ import annotations

from typing import Any

from funcgrad.core import aval_of

from . import sites


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


def stale(node: Any, saved: Any) -> RuntimeError:
    """The error for a saved value that was written since."""
    counter = saved.counter
    output = f", which is output 0 of {node.name()}," if saved.is_result else ""
    what, place = counter[1:]
    return RuntimeError(
        f"one of the variables needed for gradient computation has been modified by an inplace "
        f"operation: [{type_name(saved.array)}]{output} is at version {counter[0]}; expected "
        f"version {saved.version} instead. It was saved by {node.name()} at "
        f"{sites.describe(node.site)} and modified by {what} at {sites.describe(place)}. Use the "
        f"out-of-place operation there, or clone() the value before it is saved."
    )
