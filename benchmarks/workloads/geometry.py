"""Bundle adjustment: the Jacobian of every observation's reprojection error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .base import Function, Workload, Wrap

OBSERVATIONS = 1000


def reprojection(xp: Any) -> Function:
    """Where a camera sees a point, less where it was seen; the last axis is the coordinates.

    A camera is an axis of rotation times its angle, a centre, a focal length, an image centre and
    two coefficients of radial distortion.
    """
    join = getattr(xp, "concatenate", None) or xp.cat

    def cross(a: Any, b: Any) -> Any:
        parts = [
            a[..., i : i + 1] * b[..., j : j + 1] - a[..., j : j + 1] * b[..., i : i + 1]
            for i, j in ((1, 2), (2, 0), (0, 1))
        ]
        return join(parts, -1)

    def rotated(axis: Any, x: Any) -> Any:
        angle = xp.sqrt(xp.sum(axis * axis, -1))[..., None]
        axis = axis / angle
        cosine, along = xp.cos(angle), xp.sum(axis * x, -1)[..., None]
        return x * cosine + cross(axis, x) * xp.sin(angle) + axis * along * (1.0 - cosine)

    def f(camera: Any, point: Any, seen: Any) -> Any:
        x = rotated(camera[..., :3], point - camera[..., 3:6])
        flat = x[..., :2] / x[..., 2:]
        square = xp.sum(flat * flat, -1)[..., None]
        distortion = 1.0 + square * (camera[..., 9:10] + square * camera[..., 10:11])
        return flat * distortion * camera[..., 6:7] + camera[..., 7:9] - seen

    return f


def jacobians(lib: Any, xp: Any) -> Function:
    """By the camera and by the point, for each observation."""
    return lib.vmap(lib.jacrev(reprojection(xp), argnums=(0, 1)))


def reprojections(lib: Any, xp: Any) -> Function:
    return lib.vmap(reprojection(xp))


def in_torch(torch: Any, args: tuple[Any, ...], wrap: Wrap) -> Callable[[], Any]:
    """One way back for each coordinate: the observations do not meet."""
    f, leaves = wrap(reprojection(torch)), args[:2]
    for leaf in leaves:
        leaf.requires_grad_()

    def call() -> Any:
        error = f(*args)
        rows = [torch.autograd.grad(error[:, i].sum(), leaves, retain_graph=i == 0) for i in (0, 1)]
        return tuple(torch.stack(pair, 1) for pair in zip(*rows, strict=True))

    return call


def in_hips(autograd: Any, anp: Any) -> Function:
    f = reprojection(anp)
    slopes = [
        autograd.grad(lambda c, p, seen, i=i: anp.sum(f(c, p, seen)[:, i]), (0, 1)) for i in (0, 1)
    ]

    def call(*args: Any) -> Any:
        return tuple(np.stack(pair, 1) for pair in zip(*(s(*args) for s in slopes), strict=True))

    return call


def observations() -> tuple[Any, ...]:
    rng = np.random.default_rng(0)
    camera = rng.normal(size=(OBSERVATIONS, 11)) * 0.1
    camera[:, 6] += 1.0
    point = rng.normal(size=(OBSERVATIONS, 3))
    point[:, 2] += 8.0
    return camera, point, rng.normal(size=(OBSERVATIONS, 2))


WORKLOADS = (
    Workload(
        "bundle adjustment, 1,000 Jacobians",
        observations,
        jacobians,
        function=reprojections,
        hips=in_hips,
        torch=in_torch,
    ),
)
