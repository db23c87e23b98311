"""What the Tensor layer adds to `funcgrad.testing`: its gradients are those of the functional one."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.testing.agreement import Skip, backward, same
from funcgrad.testing.subject import Subject, is_floating

from . import autograd
from .autograd.base import TensorBase
from .ops.create import from_numpy


def tensors(s: Subject) -> str:
    """`backward` on tensors gives the cotangents of the functional reverse mode.

    Complex ones are conjugated, which is PyTorch's convention.
    """
    xs = s.xs
    cts = s.directions(s(*xs))
    leaves = list(s.leaves)
    made = [from_numpy(np.array(x)).requires_grad_() for x in xs]
    for i, leaf in zip(s.places, made, strict=True):
        leaves[i] = leaf
    args, kwargs = tree.unflatten(s.treedef, leaves)
    try:
        outs = tree.leaves(s.f(*args, **kwargs))
    except Exception as error:  # the user's function need not take tensors
        raise Skip(f"the function does not take tensors: {type(error).__name__}") from None
    outs = [y for y in outs if isinstance(y, TensorBase) and is_floating(y._array)]
    if len(outs) != len(cts) or not any(y.requires_grad for y in outs):
        raise Skip("the function cuts the graph of tensors")
    live = [(y, ct) for y, ct in zip(outs, cts, strict=True) if y.requires_grad]
    given = [from_numpy(np.array(np.conj(ct))) for _, ct in live]
    found = autograd.grad([y for y, _ in live], made, given, allow_unused=True)
    expected = backward(s, xs, cts)
    gradients: list[Any] = [
        np.zeros_like(e) if g is None else np.conj(g.detach().numpy())
        for g, e in zip(found, expected, strict=True)
    ]
    same(
        gradients, expected, s.paths, s.rtol(*cts), "the gradient on tensors", "the functional one"
    )
    return ""
