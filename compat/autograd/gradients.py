"""`backward` and `grad`: what users give them, checked and handed to the engine."""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import funcgrad
from funcgrad.algebra import concrete_namespace
from funcgrad.core import Aval, aval_of
from funcgrad.ops.cast import cast, cast_constant

from . import engine, modes, views
from .base import TensorBase, tensor
from .graph import GradientEdge
from .node import AccumulateGrad, tensor_behind
from .tape import record, tape_array

if TYPE_CHECKING:
    from .._tensor import Tensor


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Add the gradients of `tensors` to the `.grad` of the leaves they depend on.

    ``x.grad += J^T v``, with ``v`` from `grad_tensors`, or 1 for tensors of one element.

    Raises: RuntimeError: a tensor needs no gradient, has several elements and no `grad_tensors`, or
    something that is needed was freed or modified.

    >>> import compat as torch
    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> torch.autograd.backward(x * x)
    >>> x.grad
    tensor(6.)
    """
    if grad_tensors is None and isinstance(tensors, TensorBase):
        roots = [_number_root(tensors) or _root(0, tensors, None, False)]
    else:
        roots = _roots(_sequence(tensors), _sequence(grad_tensors), False)
    level = modes.get().level
    if level is not None and any(level.is_outside(edge) for edge, _ in roots):
        raise RuntimeError(
            "backward() inside a transform, of a graph that was made outside of it, would leave the "
            "transform's values in the .grad of tensors outside. Use torch.autograd.grad, or compute "
            f"the tensor inside.{views.made_at(tensors)}"
        )
    retain = create_graph if retain_graph is None else retain_graph
    if create_graph:
        engine.warn_of_cycles()
    if inputs is None:
        engine.run(roots, retain=retain, graph=create_graph)
        return
    targets = _sequence(inputs)
    if not targets:
        raise RuntimeError("`inputs` argument to `backward` cannot be empty.")
    edges = [_input_edge(i, x, level) for i, x in enumerate(targets)]
    # Held until the end, since leaves are known weakly.
    targets = [_target(i, x, edge) for i, (x, edge) in enumerate(zip(targets, edges, strict=True))]
    engine.run(roots, retain=retain, graph=create_graph, inputs=edges, returned=False)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor, ...]:
    """The gradients of `outputs` by `inputs`, as a tuple; no `.grad` is changed.

    ``J^T v``, with ``v`` from `grad_outputs`, or 1 for tensors of one element. With
    `is_grads_batched` every ``v`` has one more axis in front, and so has the answer.

    Raises: RuntimeError: as `backward`, or an input is not part of the graph (unless `allow_unused`
    gives None, or `materialize_grads` zeros).

    >>> import compat as torch
    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> torch.autograd.grad(x * x, x)
    (tensor(6.),)
    """
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
            "allow_unused=False."
        )
    allow = materialize_grads if allow_unused is None else allow_unused
    wanted = _sequence(inputs)
    if not wanted:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    outs = _sequence(outputs)
    roots = _roots(outs, _sequence(grad_outputs), is_grads_batched)
    level = modes.get().level
    # A graph made outside of a transform is walked as it is, by cotangents from inside.
    if level is not None and all(level.is_outside(edge) for edge, _ in roots):
        level = None
    edges = [_input_edge(i, x, level) for i, x in enumerate(wanted)]
    retain = create_graph if retain_graph is None else retain_graph
    run = _run_batched if is_grads_batched else engine.run
    likes = [x._array if isinstance(x, TensorBase) else x.like and x.like[0] for x in wanted]
    found = run(roots, retain=retain, graph=create_graph, inputs=edges, likes=likes)
    for i, g in enumerate(found):
        if g is None and not allow:
            raise RuntimeError(
                f"One of the differentiated Tensors appears to not have been used in the graph "
                f"(input {i}). Set allow_unused=True if this is the desired behavior."
                f"{_made_at(wanted[i])}"
            )
        if g is None and materialize_grads:
            batched = roots if is_grads_batched else ()
            found[i] = _zeros(wanted[i]._array, batched).requires_grad_(create_graph)
    return tuple(found)


def _zeros(like: Any, batched_roots: Sequence[tuple[Any, Any]]) -> Any:
    zeros = np.zeros_like(like)
    size = batched_roots[0][1]._array.shape[:1] if batched_roots else ()
    return tensor(np.broadcast_to(zeros, (*size, *zeros.shape)).copy())


def _run_batched(
    roots: Sequence[tuple[Any, Any]],
    *,
    retain: bool,
    graph: bool,
    inputs: Sequence[Any],
    likes: Any,
) -> list[Any]:
    """`engine.run` for a batch of cotangents: one pass, mapped over their first axis.

    If it is recorded, the mapping is done on array faces of the cotangents, and what is saved in the
    graph is read through faces too, so that what the batch rules compute is recorded.
    """
    reached: list[int] = []

    def pull(*cts: Any) -> list[Any]:
        mapped = [(edge, tensor(ct)) for (edge, _), ct in zip(roots, cts, strict=True)]
        found = engine.run(
            mapped, retain=retain, graph=False, inputs=inputs, lifted=graph, likes=likes
        )
        reached[:] = [i for i, g in enumerate(found) if g is not None]
        return [found[i]._array for i in reached]

    batch = [tape_array(ct) if graph else ct._array for _, ct in roots]
    outs = funcgrad.vmap(pull)(*batch)
    found: list[Any] = [None] * len(inputs)
    for i, out in zip(reached, outs, strict=True):
        found[i] = tensor_behind(out) if graph else tensor(out)
    return found


def _made_at(x: Any) -> str:
    return views.made_at(x) if isinstance(x, TensorBase) else ""


def weak(x: TensorBase) -> weakref.ref[TensorBase]:
    return weakref.ref(x)


def _sequence(x: Any) -> list[Any]:
    """One tensor, or all of a list, a generator or the like."""
    if x is None:
        return []
    one = isinstance(x, TensorBase | GradientEdge) or not isinstance(x, Iterable)
    return [x] if one else list(x)


def _input_edge(i: int, x: Any, level: Any) -> Any:
    if not isinstance(x, TensorBase):
        if not isinstance(x, GradientEdge):
            raise TypeError(
                f"all inputs have to be Tensors or GradientEdges, but got {type(x).__name__} "
                f"(input {i})"
            )
        return x.edge
    edge = views.edge(x if level is None else level.inside(x))
    if edge is None:
        raise RuntimeError(
            f"One of the differentiated Tensors does not require grad (input {i}).{views.made_at(x)}"
        )
    return edge


def _roots(outs: list[Any], cts: list[Any], batched: bool) -> list[tuple[Any, Any]]:
    """Pairs of an edge and its cotangent."""
    if cts and len(cts) != len(outs):
        raise RuntimeError(f"got {len(outs)} tensors and {len(cts)} gradients")
    return [_root(i, out, cts[i] if cts else None, batched) for i, out in enumerate(outs)]


def _number_root(x: TensorBase) -> tuple[Any, Any] | None:
    """`_root` of the common case, a real number; None if it is anything else."""
    array = x._array
    if array.__class__ is not np.ndarray or array.ndim or array.dtype.kind != "f":
        return None
    edge = x._node if x._view is None else views.edge(x)
    # With a number NumPy is faster than with an array.
    return None if edge is None else (edge, array.dtype.type(1))


def _root(i: int, out: Any, ct: Any, batched: bool) -> tuple[Any, Any]:
    """The edge of output `i` and its cotangent.

    Raises: RuntimeError: it needs no gradient, or its cotangent is missing or does not fit.
    """
    edge = views.edge(out) if isinstance(out, TensorBase) else out.edge
    if edge is None:
        raise RuntimeError(
            f"element {i} of tensors does not require grad and does not have a grad_fn."
            f"{views.made_at(out)} Make the leaf it is computed from with requires_grad=True."
        )
    return edge, _cotangent(i, out, ct, batched)


def _target(i: int, x: Any, edge: Any) -> Any:
    """The tensor whose `.grad` an input of `backward` stands for; it will be filled.

    Raises: RuntimeError: it is the edge of a tensor that is no leaf.
    """
    if isinstance(x, TensorBase):
        if edge.__class__ is not AccumulateGrad:
            x.retain_grad()  # type: ignore[attr-defined]
        return x
    if edge.__class__ is AccumulateGrad:
        return edge.variable
    raise RuntimeError(
        f"backward(inputs=): input {i} is the GradientEdge of a tensor that is no leaf, which has no "
        f".grad to fill. Pass the tensor, or use torch.autograd.grad."
    )


def _cotangent(i: int, out: Any, ct: Any, batched: bool) -> Any:
    """The cotangent of output `i`: a tensor, or a bare array if the user has given none."""
    aval: Any
    if isinstance(out, TensorBase):
        aval, xp = aval_of(out._array), concrete_namespace(out._array)
    else:
        aval, xp = out.like or (None, None)  # an edge
    if ct is None:
        _require_number(out, aval)
        ones = xp.ones(aval.shape, aval.dtype)
        return tensor(ones) if batched else ones
    if not isinstance(ct, TensorBase):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(ct).__name__}")
    if aval is None:
        return ct
    found = aval_of(ct._array)
    shape = found.shape[1:] if batched else found.shape
    if shape != aval.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{i}] has a shape of torch.Size({list(shape)}) and "
            f"output[{i}] has a shape of torch.Size({list(aval.shape)})."
        )
    if found.dtype.kind == "c" and aval.dtype.kind != "c":
        raise RuntimeError(
            f"For complex Tensors, both grad_output and output are required to have the same "
            f"dtype. Mismatch in dtype: grad_output[{i}] has a dtype of {found.dtype} and "
            f"output[{i}] has a dtype of {aval.dtype}."
        )
    if found.dtype != aval.dtype:  # PyTorch computes in the dtype of the output
        prim = cast if found.dtype.kind in "fcV" else cast_constant
        return record(prim, (ct,), {"dtype": aval.dtype})
    return ct


def _require_number(out: Any, aval: Aval | None) -> None:
    """Raises: RuntimeError: an output without a cotangent is not known to be one real number."""
    if aval is None:
        raise RuntimeError(
            "grad_outputs is needed for a GradientEdge not made by get_gradient_edge"
        )
    if math.prod(aval.shape) != 1:
        raise RuntimeError(
            "grad can be implicitly created only for scalar outputs, but this one has shape "
            f"{list(aval.shape)}.{_made_at(out)} Sum it, or give a gradient of its shape."
        )
    if aval.dtype.kind == "c":
        raise RuntimeError(
            "grad can be implicitly created only for real scalar outputs but got "
            f"torch.{aval.dtype.name}"
        )
