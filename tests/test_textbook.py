"""Every transform on the textbook gallery: modes against each other, differences and JAX."""

from __future__ import annotations

import functools
import types
import warnings
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from textbook import PROBLEMS, Array, Namespace, Problem

import funcgrad
import funcgrad.numpy as fnp

FloatArray = np.ndarray[Any, np.dtype[np.float64]]

every_problem = pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)


@dataclass(frozen=True)
class Case:
    """A problem with fixed data, three points at which to differentiate it, and a direction.

    A point is the tuple of the differentiated arguments; it is flat when they are laid end to
    end in one vector, which is how results of different transforms are compared.
    """

    problem: Problem
    args: tuple[Array, ...]
    points: tuple[tuple[FloatArray, ...], ...]
    direction: tuple[FloatArray, ...]

    def function(self, xp: Namespace) -> Callable[..., Array]:
        """The problem in one namespace, as a function of all its arguments."""
        return functools.partial(self.problem.function, xp)

    def at(self, point: Sequence[Array]) -> list[Array]:
        """All arguments, the differentiated ones taken from a point."""
        args = list(self.args)
        for position, value in zip(self.problem.argnums, point, strict=True):
            args[position] = value
        return args

    def of_point(self, xp: Namespace) -> Callable[..., Array]:
        """The problem as a function of the differentiated arguments only."""
        return lambda *point: self.problem.function(xp, *self.at(point))

    def of_flat(self, xp: Namespace) -> Callable[[Array], Array]:
        """The problem as a function of one flat point."""
        shapes = [part.shape for part in self.points[0]]
        ends = np.cumsum([part.size for part in self.points[0]]).tolist()
        starts = [0, *ends[:-1]]

        def evaluate(flat_point: Array) -> Array:
            cuts = zip(starts, ends, shapes, strict=True)
            point = [flat_point[start:end].reshape(shape) for start, end, shape in cuts]
            return self.problem.function(xp, *self.at(point))

        return evaluate


@functools.cache
def case_of(problem: Problem) -> Case:
    """The case of a problem, drawn from a seed that depends on nothing but its name."""
    rng = np.random.default_rng(zlib.crc32(problem.name.encode()))
    draws = [problem.make_args(rng) for _ in range(3)]
    points = tuple(tuple(draw[i] for i in problem.argnums) for draw in draws)
    direction = tuple(np.array(rng.normal(size=part.shape)) for part in points[0])
    return Case(problem, draws[0], points, direction)


def flatten(point: Sequence[Array]) -> FloatArray:
    """Lay the arrays of a point, of a gradient or of a direction end to end."""
    return np.concatenate([np.ravel(part) for part in point])


def flatten_batch(parts: Sequence[Array]) -> FloatArray:
    """Lay stacked arrays end to end, one row for each entry of their leading axis."""
    return np.concatenate([np.reshape(part, (3, -1)) for part in parts], axis=1)


def assert_close(actual: Array, expected: Array, tolerance: float) -> None:
    """Compare relative to each entry, or to the largest entry where an entry is far smaller."""
    scale = float(np.max(np.abs(expected)))
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance * scale)


def central_difference(
    function: Callable[[FloatArray], Array], point: FloatArray, direction: FloatArray
) -> Array:
    """The derivative along a direction from two evaluations."""
    step = 1e-5
    ahead, behind = function(point + step * direction), function(point - step * direction)
    return (ahead - behind) / (2.0 * step)


def gradient_of(case: Case, xp: Namespace) -> FloatArray:
    """The flat reverse-mode gradient at the first point, taken with argnums."""
    return flatten(funcgrad.grad(case.function(xp), case.problem.argnums)(*case.args))


def slope_of(case: Case) -> Array:
    """The forward-mode derivative at the first point along the direction."""
    return funcgrad.jvp(case.of_point(fnp), case.points[0], case.direction)[1]


def hessian_of(case: Case) -> Array:
    """The Hessian matrix at the first flat point."""
    return funcgrad.hessian(case.of_flat(fnp))(flatten(case.points[0]))


def batched_gradients_of(case: Case) -> FloatArray:
    """The flat gradients at the three points by one vectorised call."""
    argnums = case.problem.argnums
    axes = tuple(0 if i in argnums else None for i in range(len(case.args)))
    stacked = case.at([np.stack(parts) for parts in zip(*case.points, strict=True)])
    gradients = funcgrad.vmap(funcgrad.grad(case.function(fnp), argnums), in_axes=axes)
    return flatten_batch(gradients(*stacked))


@every_problem
def test_value_is_the_one_of_plain_numpy(problem: Problem) -> None:
    case = case_of(problem)
    value, _ = funcgrad.value_and_grad(case.function(fnp), problem.argnums)(*case.args)
    assert_close(value, case.function(np)(*case.args), 1e-14)


@every_problem
def test_gradient_matches_differences(problem: Problem) -> None:
    case = case_of(problem)
    point = flatten(case.points[0])
    along = functools.partial(central_difference, case.of_flat(np), point)
    assert_close(gradient_of(case, fnp), np.array([along(row) for row in np.eye(point.size)]), 1e-6)


@every_problem
def test_gradient_of_plain_numpy_code_is_the_same(problem: Problem) -> None:
    case = case_of(problem)
    assert_close(gradient_of(case, np), gradient_of(case, fnp), 1e-14)


@every_problem
def test_forward_mode_agrees_with_reverse_mode(problem: Problem) -> None:
    case = case_of(problem)
    gradient, direction = gradient_of(case, fnp), flatten(case.direction)
    rounding = 1e-11 * float(np.abs(gradient) @ np.abs(direction))
    assert slope_of(case) == pytest.approx(gradient @ direction, rel=1e-11, abs=rounding)
    difference = central_difference(case.of_flat(np), flatten(case.points[0]), direction)
    assert slope_of(case) == pytest.approx(difference, rel=1e-6, abs=1e5 * rounding)


@every_problem
def test_hessian_matches_differences_of_the_gradient(problem: Problem) -> None:
    case = case_of(problem)
    hessian, direction = hessian_of(case), flatten(case.direction)
    gradient = funcgrad.grad(case.of_flat(fnp))
    difference = central_difference(gradient, flatten(case.points[0]), direction)
    assert_close(hessian, hessian.T, 1e-11)
    assert_close(hessian @ direction, difference, 1e-6)


@every_problem
def test_batched_gradients_are_the_gradients_of_each_point(problem: Problem) -> None:
    case = case_of(problem)
    gradient = funcgrad.grad(case.of_flat(fnp))
    singly = np.stack([gradient(flatten(point)) for point in case.points])
    assert_close(batched_gradients_of(case), singly, 1e-11)


@pytest.fixture(scope="module")
def jax() -> types.ModuleType:
    """JAX in double precision, or a skipped test where it is not installed."""
    with warnings.catch_warnings():
        # JAX warns of deprecations in its own dependencies while it is being imported.
        warnings.simplefilter("ignore")
        jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    return jax


@functools.cache
def jax_reference(jax: types.ModuleType, problem: Problem) -> tuple[FloatArray, ...]:
    """Values, gradients, slopes and Hessians that JAX finds at the three points of a case.

    Compiling is what takes JAX's time here, so that one compiled function answers everything.
    """
    case = case_of(problem)
    value_and_gradient = jax.value_and_grad(case.of_flat(jax.numpy))
    points = np.stack([flatten(point) for point in case.points])
    direction = flatten(case.direction)
    directions = np.vstack([direction, np.eye(direction.size)])

    def derivatives(point: Array) -> Array:
        along = jax.vmap(lambda row: jax.jvp(value_and_gradient, (point,), (row,)))
        (values, gradients), (slopes, products) = along(directions)
        return values[0], gradients[0], slopes[0], products[1:]

    return tuple(np.asarray(part) for part in jax.jit(jax.vmap(derivatives))(points))


@every_problem
def test_jax_finds_the_same_value_and_gradient(problem: Problem, jax: types.ModuleType) -> None:
    values, gradients, _, _ = jax_reference(jax, problem)
    case = case_of(problem)
    value, gradient = funcgrad.value_and_grad(case.function(fnp), problem.argnums)(*case.args)
    assert_close(value, values[0], 1e-10)
    assert_close(flatten(gradient), gradients[0], 1e-10)


@every_problem
def test_jax_finds_the_same_slope(problem: Problem, jax: types.ModuleType) -> None:
    _, gradients, slopes, _ = jax_reference(jax, problem)
    case = case_of(problem)
    scale = float(np.abs(gradients[0]) @ np.abs(flatten(case.direction)))
    assert slope_of(case) == pytest.approx(slopes[0], rel=1e-10, abs=1e-10 * scale)


@every_problem
def test_jax_finds_the_same_hessian(problem: Problem, jax: types.ModuleType) -> None:
    hessians = jax_reference(jax, problem)[3]
    assert_close(hessian_of(case_of(problem)), hessians[0], 1e-10)


@every_problem
def test_jax_finds_the_same_batched_gradients(problem: Problem, jax: types.ModuleType) -> None:
    gradients = jax_reference(jax, problem)[1]
    assert_close(batched_gradients_of(case_of(problem)), gradients, 1e-10)
