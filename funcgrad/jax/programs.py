"""`jit`, `pmap` and `shard_map` with JAX's arguments, on one device."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, overload

import numpy as np  # noqa: F401  (doctests)

from .. import tree
from ..compile import jit as _jit
from ..errors import ArgumentError, where
from ..transforms import checkpoint as _checkpoint
from ..transforms import trace as _trace
from ..transforms import vmap as _vmap
from .sharding import Mesh

_P = ParamSpec("_P")
_R = TypeVar("_R")


@overload
def jit(fun: Callable[_P, _R], **options: Any) -> _jit._Jitted[_P, _R]: ...
@overload
def jit(fun: None = None, **options: Any) -> Callable[[Callable[_P, _R]], _jit._Jitted[_P, _R]]: ...
def jit(
    fun: Any = None,
    *,
    in_shardings: Any = None,
    out_shardings: Any = None,
    donate_argnames: Any = None,
    keep_unused: bool = False,
    device: Any = None,
    backend: Any = None,
    inline: bool = False,
    compiler_options: Any = None,
    **options: Any,
) -> Any:
    """`funcgrad.jit`; what is named here is about devices, memory and XLA, and changes nothing.

    Raises: as `funcgrad.jit`.
    Source: JAX reference, ``jax.jit``.

    >>> jit(lambda x: 2.0 * x, inline=True)(np.ones(2)).tolist()
    [2.0, 2.0]
    """
    if fun is None:
        return functools.partial(jit, **options)
    return _jit.jit(fun, **options)


def make_jaxpr(
    fun: Callable[..., Any],
    static_argnums: Any = (),
    axis_env: Any = None,
    return_shape: bool = False,
) -> Callable[..., Any]:
    """`funcgrad.make_jaxpr`; with `return_shape` a pair with the types of the result, as its tree.

    Raises: ArgumentError: `axis_env`, which is vmap's business. As `funcgrad.make_jaxpr`.
    Source: JAX reference, ``jax.make_jaxpr``.

    >>> make_jaxpr(lambda x, n: {"y": x**n}, static_argnums=1, return_shape=True)(np.ones(3), 2)[1]
    {'y': f64[3]}
    """
    if axis_env is not None:
        raise ArgumentError(f"make_jaxpr: axis_env={axis_env!r} is not offered; take vmap{where()}")
    static = _places(static_argnums)

    @functools.wraps(fun)
    def traced(*args: Any, **kwargs: Any) -> Any:
        rest, moving = _with_fixed(fun, args, static) if static else (fun, range(len(args)))
        found: list[Any] = []

        def seen(*values: Any, **named: Any) -> Any:
            out = rest(*values, **named)
            found[:] = [tree.structure(out)]
            return out

        program = _trace.make_jaxpr(seen)(*(args[i] for i in moving), **kwargs)
        if not return_shape:
            return program
        return program, tree.unflatten(found[0], program.out_avals)

    return traced


def vmap(
    fun: Callable[..., Any],
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_name: Any = None,
    axis_size: int | None = None,
    spmd_axis_name: Any = None,
    **options: Any,
) -> Callable[..., Any]:
    """`funcgrad.vmap`; `spmd_axis_name` is about several devices, and changes nothing.

    Raises: as `funcgrad.vmap`.
    Source: JAX reference, ``jax.vmap``.

    >>> vmap(lambda x: 2.0 * x, spmd_axis_name="i")(np.ones(2)).tolist()
    [2.0, 2.0]
    """
    return _vmap.vmap(fun, in_axes, out_axes, axis_name=axis_name, axis_size=axis_size, **options)


def pmap(
    fun: Callable[..., Any],
    axis_name: Any = None,
    *,
    in_axes: Any = 0,
    out_axes: Any = 0,
    static_broadcasted_argnums: Any = (),
    devices: Any = None,
    backend: str | None = None,
    axis_size: int | None = None,
    donate_argnums: Any = (),
) -> Callable[..., Any]:
    """``jit(vmap(fun))``: what JAX runs on one device for each example runs on one for all.

    Raises: as `jit` and `vmap`.
    Source: JAX, ``jax.pmap``.

    >>> pmap(lambda x: 2.0 * x)(np.array([1.0, 2.0])).tolist()
    [2.0, 4.0]
    """
    static = _places(static_broadcasted_argnums)
    if not static:
        mapped = _vmap.vmap(fun, in_axes, out_axes, axis_name=axis_name, axis_size=axis_size)
        return _jit.jit(mapped, donate_argnums=donate_argnums)

    def called(*args: Any) -> Any:
        rest, moving = _with_fixed(fun, args, static)
        axes = in_axes if isinstance(in_axes, tuple | list) else (in_axes,) * len(args)
        chosen = tuple(axes[i] for i in moving)
        mapped = _vmap.vmap(rest, chosen, out_axes, axis_name=axis_name, axis_size=axis_size)
        return mapped(*(args[i] for i in moving))

    return _jit.jit(called, static_argnums=static, donate_argnums=donate_argnums)


def _places(given: Any) -> tuple[int, ...]:
    return (given,) if isinstance(given, int) else tuple(given)


def _with_fixed(
    fun: Callable[..., Any], args: tuple[Any, ...], static: tuple[int, ...]
) -> tuple[Callable[..., Any], list[int]]:
    """`fun` with some of the arguments fixed, and the places of the others, which it takes."""
    fixed = {i % len(args) for i in static}
    moving = [i for i in range(len(args)) if i not in fixed]

    def rest(*values: Any, **kwargs: Any) -> Any:
        given = dict(zip(moving, values, strict=True))
        return fun(*(given.get(i, a) for i, a in enumerate(args)), **kwargs)

    return rest, moving


def checkpoint(
    fun: Callable[..., Any],
    *,
    prevent_cse: bool = True,
    policy: Any = None,
    static_argnums: Any = (),
) -> Callable[..., Any]:
    """`funcgrad.checkpoint`, which keeps nothing: `policy` and `prevent_cse` change nothing.

    Raises: as `funcgrad.checkpoint`.
    Source: JAX reference, ``jax.checkpoint``.

    >>> from funcgrad import jax
    >>> float(jax.grad(jax.checkpoint(lambda x, n: x**n, static_argnums=1))(3.0, 2))
    6.0
    """
    static = _places(static_argnums)

    @functools.wraps(fun)
    def called(*args: Any, **kwargs: Any) -> Any:
        rest, moving = _with_fixed(fun, args, static)
        return _checkpoint.checkpoint(rest)(*(args[i] for i in moving), **kwargs)

    return called


remat = checkpoint


def shard_map(
    f: Callable[..., Any] | None = None,
    *,
    mesh: Mesh,
    in_specs: Any = None,
    out_specs: Any = None,
    **checks: Any,
) -> Callable[..., Any]:
    """`f` on each device's part of the arguments: of one device, on the whole. Without `f`
    it decorates.

    Raises: ArgumentError: the mesh has more devices.
    Source: JAX reference, ``jax.shard_map``.

    >>> from funcgrad import jax, lax
    >>> mesh = jax.sharding.Mesh(jax.devices(), "i")
    >>> shard_map(lambda x: lax.psum(x, "i"), mesh=mesh)(np.ones(2)).tolist()
    [1.0, 1.0]
    """
    if mesh.devices.size != 1:
        raise ArgumentError(f"shard_map: a mesh of {mesh.shape}; there is one device{where()}")
    if f is None:
        return functools.partial(shard_map, mesh=mesh)

    def over(f: Callable[..., Any], name: Any) -> Callable[..., Any]:
        mapped = _vmap.vmap(f, None, axis_name=name, axis_size=1)
        return lambda *args: tree.map(lambda y: y[0], mapped(*args))

    return functools.reduce(over, mesh.axis_names, f)
