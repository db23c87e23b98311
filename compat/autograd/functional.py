"""Derivatives of functions of tensors over the tape: vjp, jvp, Jacobians, Hessians, their products.

Layer 6. `compat.func` has the same as transforms; here a function may be anything that records, also
with `backward` inside, and the answers can have a graph (`create_graph`). With `strict` a derivative
that is zero because nothing depends on an input is an error instead of zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import funcgrad
from funcgrad import numpy as fnp
from funcgrad.algebra import concrete_namespace, zeros_like
from funcgrad.core import aval_of
from funcgrad.ops.structural import reshape

from . import modes, views
from .base import tensor
from .forward_ad import dual_level, make_dual, unpack_dual
from .functional_values import Tensors, _bases, _basis, _like, _results, _tensors
from .functional_values import _as_tuple as _as_tuple
from .functional_values import _construct_standard_basis_for as _construct_standard_basis_for
from .functional_values import _grad_postprocess as _grad_postprocess
from .functional_values import _tuple_postprocess as _tuple_postprocess
from .gradients import grad
from .tape import record, through

# ---------------------------------------------------------------- what goes in and out


def _inputs(xs: Tensors, create_graph: bool) -> Tensors:
    """The inputs as the function gets them: new tensors that require grad."""
    made = []
    for x in xs:
        if create_graph and views.edge(x) is not None:
            made.append(record(reshape, (x,), {"shape": tuple(x._array.shape)}, "ViewBackward0"))
        else:
            made.append(x.detach().requires_grad_())
    return tuple(made)


def _zeros(x: Any, size: Sequence[int] = ()) -> Any:
    """A zero derivative of `x`, with axes of `size` in front."""
    module = concrete_namespace(x._array)
    return tensor(module.zeros((*size, *x._array.shape), x._array.dtype))


def _vector(v: Any, like: Tensors, name: str, message: str, *, is_tuple: bool) -> Tensors:
    """The vector of a product, ones if it is None and `like` is one number.

    `is_tuple`: users see `like` as a tuple, also if there is one tensor in it.

    Raises: RuntimeError: it does not fit, or must not be None (`message`).
    """
    if v is None:
        if len(like) != 1 or aval_of(like[0]._array).size != 1:
            raise RuntimeError(message)
        array = like[0]._array
        return (tensor(concrete_namespace(array).ones(array.shape, array.dtype)),)
    found = _tensors(v, "v", name)
    if len(found) != len(like):
        if not is_tuple:
            raise RuntimeError("The given v should contain a single Tensor.")
        raise RuntimeError(
            f"v is a tuple of invalid length: should be {len(like)} but got {len(found)}."
        )
    for i, (a, b) in enumerate(zip(found, like, strict=True)):
        if a.shape != b.shape:
            entry = f"Entry {i} in " if is_tuple else ""
            raise RuntimeError(f"{entry}v has invalid size: should be {b.shape} but got {a.shape}.")
    return found


_NO_VECTOR = (
    "The vector v can only be None if the input to the user-provided function is a single Tensor "
    "with a single element."
)


def _gradients(
    outs: Tensors, xs: Tensors, cts: Sequence[Any] | None = None, create_graph: bool = False
) -> list[Any]:
    """`grad` with None wherever there is none, also for outputs without a graph."""
    cts = [None] * len(outs) if cts is None else cts
    pairs = [
        (o, c)
        for o, c in zip(outs, cts, strict=True)
        if views.edge(o) is not None and (c is not None or o.numel() == 1)
    ]
    if not pairs:
        return [None] * len(xs)
    return list(
        grad(
            [o for o, _ in pairs],
            xs,
            [c for _, c in pairs],
            retain_graph=True,
            create_graph=create_graph,
            allow_unused=True,
        )
    )


# ---------------------------------------------------------------- strict mode


def _require_graph(xs: Sequence[Any], kind: str, strict: bool) -> None:
    """In strict mode, require that all of `xs` depend on the inputs.

    Raises: RuntimeError: one does not.
    """
    for i, x in enumerate(xs if strict else ()):
        if x is None:
            raise RuntimeError(
                f"The output of the user-provided function is independent of input {i}. This is not "
                f"allowed in strict mode."
            )
        if views.edge(x) is None:
            raise RuntimeError(_INDEPENDENT[kind].format(i))


_INDEPENDENT = {
    "outputs": (
        "Output {} of the user-provided function does not require gradients. The outputs must be "
        "computed in a differentiable manner from the input when running in strict mode."
    ),
    "grad_inputs": (
        "The gradient with respect to input {} is independent of the inputs of the user-provided "
        "function. This is not allowed in strict mode."
    ),
    "jacobian": (
        "While computing the hessian, found that the jacobian of the user-provided function with "
        "respect to input {} is independent of the input. This is not allowed in strict mode. You "
        "should ensure that your function is twice differentiable and that the jacobian depends on "
        "the inputs (this would be violated by a linear function for example)."
    ),
    "hessian": (
        "The hessian of the user-provided function with respect to input {} is independent of the "
        "input. This is not allowed in strict mode. You should ensure that your function is thrice "
        "differentiable and that the hessian depends on the inputs."
    ),
}


def _filled(
    grads: Sequence[Any], likes: Tensors, strict: bool, create_graph: bool, stage: str
) -> Tensors:
    """Zeros in place of None.

    Raises: RuntimeError: in strict mode, there is a None, or no graph where one is wanted.
    """
    found = []
    for i, (g, x) in enumerate(zip(grads, likes, strict=True)):
        if strict and g is None:
            raise RuntimeError(_MISSING[stage].format(i))
        if strict and create_graph and views.edge(g) is None:
            what = "hessian" if "double" in stage else "jacobian"
            raise RuntimeError(
                f"The {what} of the user-provided function is independent of input {i}. This is not "
                f"allowed in strict mode when create_graph=True."
            )
        found.append(_zeros(x) if g is None else g)
    return tuple(found)


_MISSING = {
    "back": (
        "The output of the user-provided function is independent of input {}. This is not allowed "
        "in strict mode."
    ),
    "back_trick": (
        "The gradient with respect to the input is independent of entry {} in the grad_outputs when "
        "using the double backward trick to compute forward mode gradients. This is not allowed in "
        "strict mode."
    ),
    "double_back": (
        "The jacobian of the user-provided function is independent of input {}. This is not allowed "
        "in strict mode."
    ),
    "double_back_trick": (
        "The hessian of the user-provided function is independent of entry {} in the grad_jacobian. "
        "This is not allowed in strict mode as it prevents from using the double backward trick to "
        "replace forward mode AD."
    ),
}

# ---------------------------------------------------------------- products


def vjp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """``func(*inputs)`` and ``v^T J``; `v` may be None if the output is one number.

    Raises: RuntimeError: `v` does not fit. TypeError: an input or output is no tensor.

    >>> import compat as torch
    >>> x = torch.tensor([1.0, 2.0])
    >>> torch.autograd.functional.vjp(lambda x: x * x, x, torch.ones(2))
    (tensor([1., 4.]), tensor([2., 4.]))
    """
    with modes.enable_grad():
        xs = _inputs(_tensors(inputs, "inputs", "vjp"), create_graph)
        out = func(*xs)
        outs = _tensors(out, "outputs of the user-provided function", "vjp")
        _require_graph(outs, "outputs", strict)
        cts = _vector(
            v,
            outs,
            "vjp",
            "The vector v can only be None if the user-provided function returns a single Tensor "
            "with a single element.",
            is_tuple=isinstance(out, tuple),
        )
        found = _gradients(outs, xs, cts, create_graph)
        grads = _filled(found, xs, strict, create_graph, "back")
    return _results(out, create_graph), _like(_results(grads, create_graph), inputs)


def jvp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """``func(*inputs)`` and ``J v``, by differentiating ``u^T J`` by `u`.

    Raises: RuntimeError: `v` does not fit. TypeError: an input or output is no tensor.

    >>> import compat as torch
    >>> x = torch.tensor([1.0, 2.0])
    >>> torch.autograd.functional.jvp(lambda x: x * x, x, torch.ones(2))
    (tensor([1., 4.]), tensor([2., 4.]))
    """
    with modes.enable_grad():
        xs = _inputs(_tensors(inputs, "inputs", "jvp"), create_graph)
        vs = _vector(v, xs, "jvp", _NO_VECTOR, is_tuple=isinstance(inputs, tuple))
        out = func(*xs)
        outs = _tensors(out, "outputs of the user-provided function", "jvp")
        _require_graph(outs, "outputs", strict)
        us = tuple([_zeros(o).requires_grad_() for o in outs])
        found = _gradients(outs, xs, us, True)
        _require_graph(found, "grad_inputs", strict)
        known = [(g, w) for g, w in zip(found, vs, strict=True) if g is not None]
        dots = _gradients(tuple([g for g, _ in known]), us, [w for _, w in known], create_graph)
        pushed = _filled(dots, outs, strict, create_graph, "back_trick")
    return _results(out, create_graph), _like(_results(pushed, create_graph), out)


def _scalar(out: Any, name: str, strict: bool) -> Any:
    """Raises: RuntimeError: the function's value is not one number, or `strict` is violated."""
    outs = _tensors(out, "outputs of the user-provided function", name)
    _require_graph(outs, "outputs", strict)
    if isinstance(out, tuple):
        raise RuntimeError(f"The function given to {name} should return a single Tensor")
    if outs[0].numel() != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {name} should contain a single element"
        )
    return out


def vhp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """``func(*inputs)``, one number, and ``v^T H``.

    Raises: RuntimeError: `v` does not fit, or the value is not one number.

    >>> import compat as torch
    >>> x = torch.tensor([1.0, 2.0])
    >>> torch.autograd.functional.vhp(lambda x: (x**3).sum(), x, torch.ones(2))
    (tensor(9.), tensor([ 6., 12.]))
    """
    with modes.enable_grad():
        xs = _inputs(_tensors(inputs, "inputs", "vhp"), create_graph)
        vs = _vector(v, xs, "vhp", _NO_VECTOR, is_tuple=isinstance(inputs, tuple))
        out = _scalar(func(*xs), "vhp", strict)
        jac = _gradients((out,), xs, None, True)
        _require_graph(jac, "jacobian", strict)
        known = [(g, w) for g, w in zip(jac, vs, strict=True) if g is not None]
        found = _gradients(tuple([g for g, _ in known]), xs, [w for _, w in known], create_graph)
        products = _filled(found, xs, strict, create_graph, "double_back")
    return _results(out, create_graph), _like(_results(products, create_graph), inputs)


def hvp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """``func(*inputs)``, one number, and ``H v``; `vhp` is the same for less.

    Raises: RuntimeError: `v` does not fit, or the value is not one number.

    >>> import compat as torch
    >>> x = torch.tensor([1.0, 2.0])
    >>> torch.autograd.functional.hvp(lambda x: (x**3).sum(), x, torch.ones(2))
    (tensor(9.), tensor([ 6., 12.]))
    """
    with modes.enable_grad():
        xs = _inputs(_tensors(inputs, "inputs", "hvp"), create_graph)
        vs = _vector(v, xs, "hvp", _NO_VECTOR, is_tuple=isinstance(inputs, tuple))
        out = _scalar(func(*xs), "hvp", strict)
        jac = _gradients((out,), xs, None, True)
        _require_graph(jac, "jacobian", strict)
        us = tuple([_zeros(x).requires_grad_() for x in xs])
        known = [(g, u) for g, u in zip(jac, us, strict=True) if g is not None]
        rows = _gradients(tuple([g for g, _ in known]), xs, [u for _, u in known], True)
        _require_graph(rows, "hessian", strict)
        pairs = [(r, w) for r, w in zip(rows, vs, strict=True) if r is not None]
        found = _gradients(tuple([r for r, _ in pairs]), us, [w for _, w in pairs], create_graph)
        products = _filled(found, xs, strict, create_graph, "double_back_trick")
    return _results(out, create_graph), _like(_results(products, create_graph), inputs)


# ---------------------------------------------------------------- Jacobians


def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """``J[out..., in...]``: a tensor, or tuples of them by outputs and by inputs.

    `vectorize`: all rows at once, by `vmap`; the strategy "forward-mode" computes columns and needs
    it.

    Raises: RuntimeError: `strict` is refused or violated. NotImplementedError: forward mode without
    `vectorize`, or with `create_graph`.

    >>> import compat as torch
    >>> torch.autograd.functional.jacobian(lambda x: x * x, torch.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function '
            'has more outputs than inputs, "forward-mode" tends to be more performant. Otherwise, '
            'prefer to use "reverse-mode".'
        )
    if strategy == "forward-mode":
        _require_forward(create_graph, strict, vectorize)
        return _by_columns(func, inputs)
    with modes.enable_grad():
        xs = _inputs(_tensors(inputs, "inputs", "jacobian"), create_graph)
        out = func(*xs)
        outs = _tensors(out, "outputs of the user-provided function", "jacobian")
        _require_graph(outs, "outputs", strict)
        if vectorize and strict:
            raise RuntimeError(
                "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not "
                "supported together. Please either set `strict=False` or `vectorize=False`."
            )
        if vectorize:
            rows = _all_rows(outs, xs, create_graph)
        else:
            rows = [
                _rows(i, o, xs, create_graph=create_graph, strict=strict)
                for i, o in enumerate(outs)
            ]
        found = tuple([_like(tuple(row), inputs) for row in rows])
    return _results(_like(found, out), create_graph)


def _rows(i: int, out: Any, xs: Tensors, *, create_graph: bool, strict: bool) -> list[Any]:
    """The Jacobian of one output by every input, one backward pass per element."""
    shape = tuple(out._array.shape)
    basis = _basis(out, 0, aval_of(out._array).size)
    rows: list[list[Any]] = [[] for _ in xs]
    for one in basis:
        found = _gradients((out,), xs, (tensor(one.reshape(shape)),), create_graph)
        for k, (g, x) in enumerate(zip(found, xs, strict=True)):
            if strict and g is None:
                raise RuntimeError(
                    f"Output {i} of the user-provided function is independent of input {k}. This is "
                    f"not allowed in strict mode."
                )
            if strict and create_graph and views.edge(g) is None:
                raise RuntimeError(
                    f"The jacobian of the user-provided function is independent of input {k}. This "
                    f"is not allowed in strict mode when create_graph=True."
                )
            rows[k].append(_zeros(x) if g is None else g)
    return [
        _reshaped(through(fnp.stack, tuple(row)), (*shape, *x._array.shape))
        if row
        else _zeros(x, shape)
        for row, x in zip(rows, xs, strict=True)
    ]


def _reshaped(x: Any, shape: tuple[int, ...]) -> Any:
    return record(reshape, (x,), {"shape": shape}, "ViewBackward0")


def _all_rows(outs: Tensors, xs: Tensors, create_graph: bool) -> list[list[Any]]:
    """The Jacobians of all outputs by every input, in one pass over a batch of cotangents."""
    live = [o for o in outs if views.edge(o) is not None]
    total = sum(o.numel() for o in live)
    found: Sequence[Any] = [None] * len(xs)
    if total:
        found = grad(
            live,
            xs,
            [tensor(b) for b in _bases(live)],
            retain_graph=True,
            create_graph=create_graph,
            allow_unused=True,
            is_grads_batched=True,
        )
    rows, start = [], 0
    for o in outs:
        shape, is_live = tuple(o._array.shape), any(o is x for x in live)
        stop = start + (o.numel() if is_live else 0)
        rows.append(
            [
                _zeros(x, shape)
                if g is None or stop == start
                else _reshaped(through(_part, g, start=start, stop=stop), (*shape, *x._array.shape))
                for g, x in zip(found, xs, strict=True)
            ]
        )
        start = stop
    return rows


def _part(g: Any, *, start: int, stop: int) -> Any:
    return g[start:stop]


def _require_forward(create_graph: bool, strict: bool, vectorize: bool) -> None:
    """Raises: NotImplementedError, RuntimeError: options that forward mode does not have."""
    if create_graph:
        raise NotImplementedError(
            "torch.autograd.functional.jacobian: `create_graph=True` and "
            '`strategy="forward-mode"` are not supported together (yet). Please either set '
            '`create_graph=False` or `strategy="reverse-mode"`.'
        )
    if strict:
        raise RuntimeError(
            'torch.autograd.functional.jacobian: `strict=True` and `strategy="forward-mode"` are not '
            'supported together (yet). Please either set `strict=False` or `strategy="reverse-mode"`.'
        )
    if not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian is only implemented "
            "for `vectorize=True`."
        )


def _by_columns(func: Callable[..., Any], inputs: Any) -> Any:
    """The Jacobian in forward mode: dual tensors with a batch of tangents."""
    xs = tuple([x.detach() for x in _tensors(inputs, "inputs", "jacobian")])
    kept: list[Any] = []

    def push(*tangents: Any) -> list[Any]:
        with dual_level():
            duals = [make_dual(x, tensor(t)) for x, t in zip(xs, tangents, strict=True)]
            out = func(*duals)
            outs = _tensors(out, "outputs of the user-provided function", "jacobian")
            kept[:] = [out if not isinstance(out, tuple) else ()]
            dots = [unpack_dual(o).tangent for o in outs]
            return [
                zeros_like(o._array) if t is None else t._array
                for o, t in zip(outs, dots, strict=True)
            ]

    columns = funcgrad.vmap(push, out_axes=-1)(*_bases(xs))
    found, sizes = [], [aval_of(x._array).size for x in xs]
    stops = np.cumsum(sizes).tolist()
    for block in columns:
        shape = block.shape[:-1]
        parts = [
            tensor(block[..., stop - size : stop].reshape((*shape, *x._array.shape)))
            for x, size, stop in zip(xs, sizes, stops, strict=True)
        ]
        found.append(_like(tuple(parts), inputs))
    return _like(tuple(found), kept[0])


def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """``H[in..., in...]`` of a function with one number as value: the Jacobian of the gradient.

    Raises: RuntimeError: the value is not one number; as `jacobian`.

    >>> import compat as torch
    >>> torch.autograd.functional.hessian(lambda x: (x**3).sum(), torch.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')
    is_forward = outer_jacobian_strategy == "forward-mode"

    def gradient(*xs: Any) -> Any:
        if is_forward:
            xs = tuple([x.requires_grad_() for x in xs])

        def value(*xs: Any) -> Any:
            out = _scalar(func(*xs), "hessian", strict)
            return _reshaped(out, ()) if out._array.shape else out

        found = jacobian(value, xs, create_graph=True)
        _require_graph(found, "jacobian", strict)
        return found

    xs = _tensors(inputs, "inputs", "hessian")
    found = jacobian(gradient, xs, create_graph, strict, vectorize, outer_jacobian_strategy)
    return _like(tuple([_like(row, inputs) for row in found]), inputs)


__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
