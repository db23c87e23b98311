"""A gallery of textbook functions, each written once for any NumPy-like namespace.

Every function takes the array namespace first: ``funcgrad.numpy``, ``numpy`` or ``jax.numpy``.
The rest of its arguments are float64 arrays (or integer data that is never differentiated), and
its result is one number.  ``PROBLEMS`` lists them with the arguments to draw and the positions
to differentiate; the drawn points lie away from the kinks of the few functions that have any.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = Any  # whatever the namespace computes with: plain, traced or JAX arrays
Namespace = Any  # the module that plays the part of numpy
Generator = np.random.Generator


@dataclass(frozen=True)
class Problem:
    """One function of the gallery, and how to draw a point at which to differentiate it."""

    name: str
    function: Callable[..., Array]
    make_args: Callable[[Generator], tuple[Array, ...]]
    argnums: tuple[int, ...]
    description: str


PROBLEMS: list[Problem] = []


def textbook(
    source: str,
    make_args: Callable[[Generator], tuple[Array, ...]],
    argnums: tuple[int, ...] = (0,),
) -> Callable[[Callable[..., Array]], Callable[..., Array]]:
    """Enter a function into ``PROBLEMS`` under its own name and docstring."""

    def enter(function: Callable[..., Array]) -> Callable[..., Array]:
        description = f"{function.__doc__} Source: {source}."
        PROBLEMS.append(Problem(function.__name__, function, make_args, argnums, description))
        return function

    return enter


# Building blocks that several problems share.

QUADRATURE_NODES, QUADRATURE_WEIGHTS = np.polynomial.legendre.leggauss(20)


def log_sum_exp(xp: Namespace, values: Array, axis: int = -1) -> Array:
    """log(sum(exp(values))), shifted by the largest value so that nothing overflows."""
    highest = xp.max(values, axis=axis, keepdims=True)
    return xp.squeeze(highest, axis) + xp.log(xp.sum(xp.exp(values - highest), axis=axis))


def log_softmax(xp: Namespace, scores: Array) -> Array:
    """Normalised log-probabilities along the last axis."""
    return scores - xp.expand_dims(log_sum_exp(xp, scores), -1)


def normal_cdf(xp: Namespace, x: Array) -> Array:
    """The normal distribution function, by Gauss-Legendre quadrature of its density on [0, x]."""
    points = xp.expand_dims(x, -1) * (0.5 * (QUADRATURE_NODES + 1.0))
    density = xp.exp(-0.5 * points**2) / math.sqrt(2.0 * math.pi)
    return 0.5 + 0.5 * x * xp.sum(QUADRATURE_WEIGHTS * density, axis=-1)


def rk4_step(field: Callable[[Array], Array], state: Array, step: float) -> Array:
    """One step of the classical fourth-order Runge-Kutta method."""
    k1 = field(state)
    k2 = field(state + 0.5 * step * k1)
    k3 = field(state + 0.5 * step * k2)
    k4 = field(state + step * k3)
    return state + step / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)


def conjugate_gradients(xp: Namespace, matrix: Array, target: Array, steps: int) -> Array:
    """A fixed number of conjugate-gradient steps towards the solution of matrix @ x = target."""
    solution, residual, direction = xp.zeros_like(target), target, target
    for _ in range(steps):
        image = matrix @ direction
        length = (residual @ residual) / (direction @ image)
        solution = solution + length * direction
        shrunk = residual - length * image
        direction = shrunk + (shrunk @ shrunk) / (residual @ residual) * direction
        residual = shrunk
    return solution


def inverse_and_determinant_2x2(xp: Namespace, matrix: Array) -> tuple[Array, Array]:
    """The inverse of a 2 by 2 matrix by its cofactors, and its determinant."""
    (a, b), (c, d) = (matrix[0, 0], matrix[0, 1]), (matrix[1, 0], matrix[1, 1])
    determinant = a * d - b * c
    cofactors = xp.stack([xp.stack([d, -b]), xp.stack([-c, a])])
    return cofactors / determinant, determinant


def rbf_kernel(xp: Namespace, inputs: Array, log_length: Array) -> Array:
    """The Gaussian kernel matrix of one-dimensional inputs."""
    gaps = (inputs[:, None] - inputs[None, :]) / xp.exp(log_length)
    return xp.exp(-0.5 * gaps**2)


# Test functions of optimisation.


@textbook("H. H. Rosenbrock, The Computer Journal 3, 1960", lambda rng: (rng.normal(size=5),))
def rosenbrock(xp: Namespace, x: Array) -> Array:
    """The curved valley, chained over neighbouring coordinates."""
    return xp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


@textbook(
    "D. M. Himmelblau, Applied Nonlinear Programming, 1972", lambda rng: (rng.normal(size=2),)
)
def himmelblau(xp: Namespace, point: Array) -> Array:
    """Two squared equations with four common roots."""
    x, y = point[0], point[1]
    return xp.square(x**2 + y - 11.0) + xp.square(x + y**2 - 7.0)


@textbook(
    "D. H. Ackley, A Connectionist Machine for Genetic Hillclimbing, 1987",
    lambda rng: (rng.normal(size=4),),
)
def ackley(xp: Namespace, x: Array) -> Array:
    """A wide funnel covered with ripples."""
    funnel = -20.0 * xp.exp(-0.2 * xp.sqrt(xp.mean(x**2)))
    ripples = -xp.exp(xp.mean(xp.cos(2.0 * math.pi * x)))
    return funnel + ripples + 20.0 + math.e


@textbook(
    "E. M. L. Beale, Princeton Technical Report 25, 1958",
    lambda rng: (np.array(rng.uniform(0.5, 1.5)), np.array(rng.uniform(0.5, 1.5))),
    argnums=(0, 1),
)
def beale(xp: Namespace, x: Array, y: Array) -> Array:
    """Three residuals of two separate scalar arguments."""
    targets = ((1.5, 1), (2.25, 2), (2.625, 3))
    return sum(xp.square(target - x + x * y**power) for target, power in targets)


@textbook("M. A. Styblinski and T.-S. Tang, 1990", lambda rng: (rng.normal(size=5),))
def styblinski_tang(xp: Namespace, x: Array) -> Array:
    """A separable quartic with many local minima."""
    return 0.5 * xp.sum(x**4 - 16.0 * x**2 + 5.0 * x)


@textbook("A. O. Griewank, 1981", lambda rng: (rng.normal(size=4),))
def griewank(xp: Namespace, x: Array) -> Array:
    """A shallow bowl under a product of cosines."""
    roots = xp.sqrt(xp.arange(1.0, x.size + 1.0))
    return 1.0 + xp.sum(x**2) / 4000.0 - xp.prod(xp.cos(x / roots))


# Regression and likelihoods.


@textbook(
    "P. McCullagh and J. A. Nelder, Generalized Linear Models, 1989",
    lambda rng: (rng.normal(size=4), rng.normal(size=(7, 4)), rng.choice([-1.0, 1.0], size=7)),
)
def logistic_regression(xp: Namespace, weights: Array, features: Array, labels: Array) -> Array:
    """Negative log-likelihood of labels -1 and 1, with a Gaussian prior on the weights."""
    margins = labels * (features @ weights)
    return xp.sum(xp.logaddexp(0.0, -margins)) + 0.5 * (weights @ weights)


@textbook(
    "P. McCullagh and J. A. Nelder, Generalized Linear Models, 1989",
    lambda rng: (
        rng.normal(size=3),
        np.array(0.3),
        rng.normal(size=(6, 3)),
        rng.poisson(2.0, size=6),
    ),
    argnums=(0, 1),
)
def poisson_regression(
    xp: Namespace, weights: Array, intercept: Array, features: Array, counts: Array
) -> Array:
    """Negative log-likelihood of counts under a logarithmic link, without its constant."""
    log_rates = features @ weights + intercept
    return xp.sum(xp.exp(log_rates) - counts * log_rates)


@textbook(
    "C. M. Bishop, Pattern Recognition and Machine Learning, 2006, section 4.3",
    lambda rng: (rng.normal(size=(4, 3)), rng.normal(size=(6, 4)), rng.integers(3, size=6)),
)
def softmax_cross_entropy(xp: Namespace, weights: Array, features: Array, labels: Array) -> Array:
    """Mean cross-entropy of a linear classifier, the true classes picked by integer index."""
    log_probabilities = log_softmax(xp, features @ weights)
    return -xp.mean(log_probabilities[xp.arange(labels.size), labels])


@textbook(
    "C. M. Bishop, Pattern Recognition and Machine Learning, 2006, section 2.2",
    lambda rng: (rng.normal(size=4), rng.poisson(4.0, size=5)),
)
def multinomial(xp: Namespace, free_logits: Array, counts: Array) -> Array:
    """Log-likelihood of category counts, the first category being the reference."""
    logits = xp.concatenate([xp.zeros(1), free_logits])
    return xp.sum(counts * log_softmax(xp, logits))


@textbook(
    "C. M. Bishop, Pattern Recognition and Machine Learning, 2006, section 9.2",
    lambda rng: (
        rng.normal(size=3),
        rng.normal(size=3),
        0.3 * rng.normal(size=3),
        rng.normal(size=8),
    ),
    argnums=(0, 1, 2),
)
def gaussian_mixture(
    xp: Namespace, logits: Array, means: Array, log_scales: Array, data: Array
) -> Array:
    """Log-likelihood of a one-dimensional mixture of three Gaussians."""
    standardised = (data[:, None] - means) / xp.exp(log_scales)
    log_densities = -0.5 * standardised**2 - log_scales - 0.5 * math.log(2.0 * math.pi)
    return xp.sum(log_sum_exp(xp, log_softmax(xp, logits) + log_densities))


@textbook(
    "A. E. Hoerl and R. W. Kennard, Technometrics 12, 1970",
    lambda rng: (rng.normal(size=4), np.array(-0.5), rng.normal(size=(6, 4)), rng.normal(size=6)),
    argnums=(0, 1),
)
def ridge_regression(
    xp: Namespace, weights: Array, log_penalty: Array, features: Array, targets: Array
) -> Array:
    """Penalised least squares, also as a function of its penalty."""
    residuals = targets - xp.dot(features, weights)
    return xp.sum(residuals**2) + xp.exp(log_penalty) * xp.sum(weights**2)


@textbook(
    "Y. Koren, R. Bell and C. Volinsky, Computer 42, 2009",
    lambda rng: (
        rng.normal(size=(3, 2)),
        rng.normal(size=(3, 2)),
        rng.normal(size=(3, 3)),
        rng.random(size=(3, 3)) < 0.7,
    ),
    argnums=(0, 1),
)
def matrix_factorisation(
    xp: Namespace, users: Array, items: Array, ratings: Array, observed: Array
) -> Array:
    """Squared error of a low-rank model on the observed ratings, with weight decay."""
    errors = xp.where(observed, ratings - users @ items.T, 0.0)
    return xp.sum(errors**2) + 0.1 * (xp.sum(users**2) + xp.sum(items**2))


@textbook(
    "C. Saunders, A. Gammerman and V. Vovk, ICML 1998",
    lambda rng: (
        rng.normal(size=5),
        np.array(-0.2),
        np.linspace(-1.0, 1.0, 5),
        rng.normal(size=5),
    ),
    argnums=(0, 1),
)
def kernel_ridge(
    xp: Namespace, dual: Array, log_length: Array, inputs: Array, targets: Array
) -> Array:
    """Squared error plus the norm in the kernel's own space."""
    predictions = rbf_kernel(xp, inputs, log_length) @ dual
    return xp.sum((targets - predictions) ** 2) + 0.1 * (dual @ predictions)


@textbook(
    "C. E. Rasmussen and C. K. I. Williams, Gaussian Processes for Machine Learning, 2006,"
    " equation 2.30; M. R. Hestenes and E. Stiefel, 1952",
    lambda rng: (0.3 * rng.normal(size=3), np.linspace(-2.0, 2.0, 6), rng.normal(size=6)),
)
def gaussian_process_fit(
    xp: Namespace, log_parameters: Array, inputs: Array, targets: Array
) -> Array:
    """The data-fit term of the log marginal likelihood, solved by conjugate gradients."""
    log_length, log_amplitude, log_noise = (log_parameters[i] for i in range(3))
    signal = xp.exp(2.0 * log_amplitude) * rbf_kernel(xp, inputs, log_length)
    covariance = signal + xp.exp(2.0 * log_noise) * xp.eye(inputs.size)
    return -0.5 * (targets @ conjugate_gradients(xp, covariance, targets, steps=4))


@textbook(
    "K. L. Lange, R. J. A. Little and J. M. G. Taylor, JASA 84, 1989",
    lambda rng: (rng.normal(size=3), np.array(0.2), rng.normal(size=(7, 3)), rng.normal(size=7)),
    argnums=(0, 1),
)
def student_t_regression(
    xp: Namespace, weights: Array, log_scale: Array, features: Array, targets: Array
) -> Array:
    """Log-likelihood with heavy tails of four degrees of freedom, without its constant."""
    degrees = 4.0
    standardised = (targets - features @ weights) * xp.exp(-log_scale)
    return -xp.sum(0.5 * (degrees + 1.0) * xp.log1p(standardised**2 / degrees) + log_scale)


@textbook(
    "J. M. Hilbe, Negative Binomial Regression, 2011",
    lambda rng: (
        rng.normal(size=3),
        np.array(0.4),
        rng.normal(size=(6, 3)),
        rng.integers(8, size=6),
    ),
    argnums=(0, 1),
)
def negative_binomial(
    xp: Namespace, weights: Array, log_size: Array, features: Array, counts: Array
) -> Array:
    """Log-likelihood of counts; the ratio of gamma functions is a product over each count."""
    size, log_means = xp.exp(log_size), features @ weights
    below = xp.arange(7)  # the largest count that is drawn is 7
    rising = xp.sum(xp.where(below < counts[:, None], xp.log(size + below), 0.0), axis=1)
    log_total = xp.logaddexp(log_size, log_means)
    return xp.sum(rising + size * (log_size - log_total) + counts * (log_means - log_total))


@textbook(
    "W. G. Horner, Philosophical Transactions 109, 1819",
    lambda rng: (rng.normal(size=5), np.linspace(-1.0, 1.0, 8), rng.normal(size=8)),
    argnums=(0,),
)
def polynomial_fit(xp: Namespace, coefficients: Array, times: Array, targets: Array) -> Array:
    """Mean squared error of a quartic evaluated by Horner's rule."""
    values = xp.zeros_like(times)
    for power in range(4, -1, -1):
        values = values * times + coefficients[power]
    return xp.mean((values - targets) ** 2)


@textbook(
    "N. R. Lomb, Astrophysics and Space Science 39, 1976",
    lambda rng: (
        rng.normal(size=3),
        rng.normal(size=3),
        np.array(1.1),
        np.sort(rng.uniform(0.0, 6.0, size=9)),
        rng.normal(size=9),
    ),
    argnums=(0, 1, 2),
)
def fourier_fit(
    xp: Namespace, cosines: Array, sines: Array, frequency: Array, times: Array, targets: Array
) -> Array:
    """Squared error of three harmonics whose base frequency is fitted too."""
    phases = frequency * xp.outer(times, xp.arange(1.0, 4.0))
    model = xp.cos(phases) @ cosines + xp.sin(phases) @ sines
    return xp.sum((targets - model) ** 2)


@textbook(
    "P. C. Mahalanobis, 1936",
    lambda rng: (rng.normal(size=3), rng.normal(size=(3, 3)), rng.normal(size=3)),
    argnums=(0, 1),
)
def mahalanobis(xp: Namespace, point: Array, factor: Array, centre: Array) -> Array:
    """Distance from a centre, the precision matrix being factor @ factor.T + identity."""
    offset = point - centre
    precision = xp.matmul(factor, xp.transpose(factor)) + xp.eye(3)
    return xp.sqrt(offset @ precision @ offset)


@textbook("C. Gini, 1912", lambda rng: (np.exp(rng.normal(size=6)),))
def gini_coefficient(xp: Namespace, incomes: Array) -> Array:
    """Inequality of incomes from their ranks, smooth where no two are equal."""
    n = incomes.size
    ranks = xp.arange(1.0, n + 1.0)
    weighted = xp.sum((2.0 * ranks - n - 1.0) * xp.sort(incomes))
    return weighted / (n * xp.sum(incomes))


# Finance.


@textbook(
    "F. Black and M. Scholes, Journal of Political Economy 81, 1973",
    lambda rng: (
        np.array(rng.uniform(90.0, 110.0)),
        np.array(100.0),
        np.array(rng.uniform(0.15, 0.3)),
        np.array(rng.uniform(0.01, 0.05)),
        np.array(rng.uniform(0.5, 2.0)),
    ),
    argnums=(0, 2, 3, 4),
)
def black_scholes_call(
    xp: Namespace, spot: Array, strike: Array, volatility: Array, rate: Array, maturity: Array
) -> Array:
    """Price of a European call; its derivatives are the Greeks."""
    spread = volatility * xp.sqrt(maturity)
    upper = (xp.log(spot / strike) + rate * maturity) / spread + 0.5 * spread
    discounted = strike * xp.exp(-rate * maturity)
    return spot * normal_cdf(xp, upper) - discounted * normal_cdf(xp, upper - spread)


@textbook(
    "P. Glasserman, Monte Carlo Methods in Financial Engineering, 2003, section 7.2",
    lambda rng: (
        np.array(rng.uniform(95.0, 105.0)),
        np.array(rng.uniform(0.2, 0.4)),
        np.array(0.03),
        rng.normal(size=(12, 6)),
    ),
    argnums=(0, 1, 2),
)
def asian_option_monte_carlo(
    xp: Namespace, spot: Array, volatility: Array, rate: Array, normals: Array
) -> Array:
    """Discounted mean payoff of an average-price call over fixed random paths."""
    step = 1.0 / 6.0
    increments = (rate - 0.5 * volatility**2) * step + volatility * math.sqrt(step) * normals
    averages = xp.mean(spot * xp.exp(xp.cumsum(increments, axis=1)), axis=1)
    return xp.exp(-rate) * xp.mean(xp.maximum(averages - 100.0, 0.0))


# Dynamics: ordinary and partial differential equations.


@textbook(
    "B. van der Pol, Philosophical Magazine 2, 1926",
    lambda rng: (np.array(rng.uniform(0.5, 1.5)), rng.normal(size=2)),
    argnums=(0, 1),
)
def van_der_pol(xp: Namespace, damping: Array, start: Array) -> Array:
    """Energy of the oscillator after a few Runge-Kutta steps."""

    def field(state: Array) -> Array:
        position, velocity = state[0], state[1]
        return xp.stack([velocity, damping * (1.0 - position**2) * velocity - position])

    state = start
    for _ in range(2):
        state = rk4_step(field, state, 0.2)
    return 0.5 * xp.sum(state**2)


@textbook(
    "A. J. Lotka, 1925, and V. Volterra, 1926",
    lambda rng: (
        rng.uniform(0.4, 1.0, size=4),
        rng.uniform(0.5, 2.0, size=2),
        np.array([1.0, 0.8]),
    ),
    argnums=(0, 1),
)
def lotka_volterra(xp: Namespace, rates: Array, start: Array, observed: Array) -> Array:
    """Misfit in logarithms of predator and prey at the last observation."""

    def field(state: Array) -> Array:
        prey, predators = state[0], state[1]
        births, hunted = rates[0] * prey, rates[1] * prey * predators
        return xp.stack([births - hunted, rates[2] * hunted - rates[3] * predators])

    state = start
    for _ in range(2):
        state = rk4_step(field, state, 0.3)
    return xp.sum((xp.log(state) - xp.log(observed)) ** 2)


@textbook(
    "S. H. Strogatz, Nonlinear Dynamics and Chaos, 1994, section 6.7",
    lambda rng: (rng.normal(size=3), rng.normal(size=3), rng.uniform(0.1, 0.5, size=3)),
    argnums=(0, 1, 2),
)
def damped_pendulum(xp: Namespace, angle: Array, velocity: Array, damping: Array) -> Array:
    """Time-averaged deflection of three pendulums, by semi-implicit Euler steps."""
    step, deflection = 0.1, 0.0
    for _ in range(10):
        velocity = velocity - step * (damping * velocity + xp.sin(angle))
        angle = angle + step * velocity
        deflection = deflection + 0.1 * xp.sum(1.0 - xp.cos(angle))
    return deflection


@textbook(
    "C. D. Murray and S. F. Dermott, Solar System Dynamics, 1999, section 2.4",
    lambda rng: (rng.uniform(0.5, 2.5, size=3), np.array(rng.uniform(0.1, 0.5))),
    argnums=(0, 1),
)
def kepler_orbit(xp: Namespace, mean_anomalies: Array, eccentricity: Array) -> Array:
    """Sum of distances to the focus after solving Kepler's equation by Newton's method."""
    eccentric = mean_anomalies
    for _ in range(5):
        excess = eccentric - eccentricity * xp.sin(eccentric) - mean_anomalies
        eccentric = eccentric - excess / (1.0 - eccentricity * xp.cos(eccentric))
    return xp.sum(1.0 - eccentricity * xp.cos(eccentric))


@textbook(
    "J. E. Jones, Proceedings of the Royal Society A 106, 1924",
    lambda rng: (
        np.array([[0.0, 0, 0], [1, 1, 0], [1, 0, 1], [0, 1, 1]]) + 0.05 * rng.normal(size=(4, 3)),
    ),
)
def lennard_jones(xp: Namespace, positions: Array) -> Array:
    """Energy of a cluster of four atoms."""
    first, second = np.triu_indices(4, 1)
    squared = xp.sum((positions[first] - positions[second]) ** 2, axis=1)
    attraction = squared**-3.0
    return 4.0 * xp.sum(attraction**2 - attraction)


@textbook(
    "H. Goldstein, Classical Mechanics, 1980, section 12.1",
    lambda rng: (rng.normal(size=5), rng.uniform(0.5, 1.5, size=6)),
    argnums=(0, 1),
)
def harmonic_chain(xp: Namespace, displacements: Array, stiffness: Array) -> Array:
    """Energy of springs in a row between two walls, with a weak quartic term."""
    walls = xp.zeros(1)
    stretches = xp.diff(xp.concatenate([walls, displacements, walls]))
    return xp.sum(0.5 * stiffness * stretches**2 + 0.1 * stretches**4)


@textbook(
    "R. J. LeVeque, Finite Difference Methods, 2007, chapter 9",
    lambda rng: (rng.normal(size=8), np.array(-1.2), rng.normal(size=8)),
    argnums=(0, 1),
)
def heat_equation(
    xp: Namespace, temperature: Array, log_diffusivity: Array, measured: Array
) -> Array:
    """Misfit after explicit steps with insulated ends, as used to find initial states."""
    rate = xp.exp(log_diffusivity)
    for _ in range(4):
        padded = xp.concatenate([temperature[:1], temperature, temperature[-1:]])
        temperature = temperature + rate * (padded[2:] - 2.0 * temperature + padded[:-2])
    return 0.5 * xp.sum((temperature - measured) ** 2)


@textbook(
    "R. Courant, K. Friedrichs and H. Lewy, Mathematische Annalen 100, 1928",
    lambda rng: (rng.normal(size=6), rng.uniform(0.3, 0.8, size=6)),
    argnums=(0, 1),
)
def wave_equation(xp: Namespace, shape: Array, speeds: Array) -> Array:
    """What a receiver at one end of a string records, by leapfrog steps between fixed ends."""
    before, now, recorded = shape, shape, 0.0
    for _ in range(6):
        padded = xp.pad(now, 1)
        curvature = padded[2:] - 2.0 * now + padded[:-2]
        before, now = now, 2.0 * now - before + speeds**2 * curvature
        recorded = recorded + now[-1] ** 2
    return recorded


@textbook(
    "R. J. LeVeque, Numerical Methods for Conservation Laws, 1992, chapter 12",
    lambda rng: (rng.normal(size=8),),
)
def burgers(xp: Namespace, velocity: Array) -> Array:
    """Enstrophy-like roughness after Lax-Friedrichs steps on a ring."""
    for _ in range(4):
        left, right = xp.roll(velocity, 1), xp.roll(velocity, -1)
        velocity = 0.5 * (left + right) - 0.1 * (right**2 - left**2)
    return xp.sum((velocity - xp.roll(velocity, 1)) ** 2)


# Control and robotics.


@textbook(
    "B. D. O. Anderson and J. B. Moore, Optimal Control: Linear Quadratic Methods, 1990",
    lambda rng: (0.5 * rng.normal(size=(1, 2)), rng.normal(size=2)),
    argnums=(0, 1),
)
def lqr_rollout(xp: Namespace, gain: Array, start: Array) -> Array:
    """Quadratic cost of steering a double integrator by linear feedback."""
    drift, push = np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[0.0], [0.1]])
    state, cost = start, 0.0
    for _ in range(8):
        control = -gain @ state
        cost = cost + state @ state + 0.1 * (control @ control)
        state = drift @ state + push @ control
    return cost + 10.0 * (state @ state)


@textbook(
    "J. J. Craig, Introduction to Robotics, 1986, chapter 3",
    lambda rng: (rng.normal(size=4), rng.uniform(0.5, 1.5, size=4), np.array([1.0, 2.0])),
    argnums=(0, 1),
)
def robot_arm(xp: Namespace, joints: Array, lengths: Array, target: Array) -> Array:
    """Distance of the hand of a planar arm from a target."""
    headings = xp.cumsum(joints)
    hand = xp.stack([xp.sum(lengths * xp.cos(headings)), xp.sum(lengths * xp.sin(headings))])
    return xp.sqrt(xp.sum((hand - target) ** 2))


@textbook(
    "J. T. Betts, Practical Methods for Optimal Control, 2010",
    lambda rng: (rng.normal(size=(5, 2)),),
)
def trajectory_optimisation(xp: Namespace, accelerations: Array) -> Array:
    """Effort, distance from a goal and nearness to an obstacle along a planar path."""
    velocities = xp.cumsum(0.3 * accelerations, axis=0)
    positions = xp.cumsum(0.3 * velocities, axis=0)
    effort = 0.1 * xp.sum(accelerations**2)
    miss = xp.sum((positions[-1] - np.array([1.0, 1.0])) ** 2)
    nearness = xp.exp(-4.0 * xp.sum((positions - 0.5) ** 2, axis=1))
    return effort + 10.0 * miss + xp.sum(nearness)


@textbook(
    "R. Hartley and A. Zisserman, Multiple View Geometry, 2004; O. Rodrigues, 1840",
    lambda rng: (
        0.5 * rng.normal(size=3),
        np.array([0.1, -0.2, 5.0]),
        rng.normal(size=(5, 3)),
        rng.normal(size=(5, 2)),
    ),
    argnums=(0, 1),
)
def camera_reprojection(
    xp: Namespace, rotation: Array, translation: Array, points: Array, pixels: Array
) -> Array:
    """Squared pixel error of points seen by a camera turned about an axis."""
    angle = xp.sqrt(xp.sum(rotation**2))
    axis = rotation / angle
    along = (points @ axis)[:, None] * axis
    turned = along + (points - along) * xp.cos(angle) + xp.cross(axis, points) * xp.sin(angle)
    seen = turned + translation
    return xp.sum((seen[:, :2] / seen[:, 2:] - pixels) ** 2)


@textbook(
    "R. E. Kalman, Journal of Basic Engineering 82, 1960",
    lambda rng: (
        np.array([[1.0, 0.3], [-0.2, 0.9]]) + 0.05 * rng.normal(size=(2, 2)),
        0.3 * rng.normal(size=2),
        0.3 * rng.normal(size=2),
        rng.normal(size=(3, 2)),
    ),
    argnums=(0, 1, 2),
)
def kalman_filter(
    xp: Namespace, transition: Array, log_process: Array, log_sensor: Array, measured: Array
) -> Array:
    """Log-likelihood of noisy measurements of a hidden state in the plane."""
    state, spread, log_likelihood = xp.zeros(2), xp.eye(2), 0.0
    for observation in measured:
        state = transition @ state
        spread = transition @ spread @ transition.T + xp.eye(2) * xp.exp(log_process)
        innovation = observation - state
        precision, volume = inverse_and_determinant_2x2(xp, spread + xp.eye(2) * xp.exp(log_sensor))
        log_likelihood = log_likelihood - 0.5 * (
            innovation @ precision @ innovation + xp.log(volume) + 2.0 * math.log(2.0 * math.pi)
        )
        gain = spread @ precision
        state, spread = state + gain @ innovation, spread - gain @ spread
    return log_likelihood


# Graphical models and statistical physics.


@textbook(
    "D. J. C. MacKay, Information Theory, Inference, and Learning Algorithms, 2003, chapter 33",
    lambda rng: (
        rng.uniform(-0.8, 0.8, size=5),
        rng.normal(size=(5, 5)),
        rng.normal(size=5),
    ),
)
def ising_mean_field(xp: Namespace, spins: Array, couplings: Array, field: Array) -> Array:
    """Variational free energy of mean spins at temperature 1.5."""
    up, down = 0.5 * (1.0 + spins), 0.5 * (1.0 - spins)
    energy = -0.5 * (spins @ couplings @ spins) - field @ spins
    entropy = -xp.sum(up * xp.log(up) + down * xp.log(down))
    return energy - 1.5 * entropy


@textbook(
    "L. R. Rabiner, Proceedings of the IEEE 77, 1989",
    lambda rng: (
        rng.normal(size=2),
        rng.normal(size=(2, 2)),
        rng.normal(size=(2, 3)),
        rng.integers(3, size=5),
    ),
    argnums=(0, 1, 2),
)
def hidden_markov_model(
    xp: Namespace, start: Array, moves: Array, emissions: Array, symbols: Array
) -> Array:
    """Log-likelihood of symbols by the forward recursion on log-probabilities."""
    log_moves, log_emissions = log_softmax(xp, moves), log_softmax(xp, emissions)
    forward = log_softmax(xp, start) + log_emissions[:, symbols[0]]
    for symbol in symbols[1:]:
        forward = log_sum_exp(xp, forward[:, None] + log_moves, axis=0)
        forward = forward + log_emissions[:, symbol]
    return log_sum_exp(xp, forward)


@textbook(
    "J. Lafferty, A. McCallum and F. Pereira, ICML 2001",
    lambda rng: (rng.normal(size=(4, 2)), rng.normal(size=(2, 2)), rng.integers(2, size=4)),
    argnums=(0, 1),
)
def conditional_random_field(xp: Namespace, unary: Array, transitions: Array, tags: Array) -> Array:
    """Log-partition function of a chain of tags minus the score of one tagging."""
    forward = unary[0]
    for position in range(1, tags.size):
        forward = log_sum_exp(xp, forward[:, None] + transitions, axis=0) + unary[position]
    score = xp.sum(unary[xp.arange(tags.size), tags]) + xp.sum(transitions[tags[:-1], tags[1:]])
    return log_sum_exp(xp, forward) - score


@textbook(
    "J. R. Norris, Markov Chains, 1997",
    lambda rng: (rng.normal(size=(3, 3)), np.eye(3)[rng.integers(3, size=9)]),
)
def markov_chain(xp: Namespace, logits: Array, visited: Array) -> Array:
    """Log-likelihood of a path given as one-hot rows, all in one einsum."""
    log_moves = log_softmax(xp, logits)
    return xp.einsum("ti,ij,tj->", visited[:-1], log_moves, visited[1:])


@textbook("C. E. Shannon, 1948", lambda rng: (rng.normal(size=6),))
def softmax_entropy(xp: Namespace, logits: Array) -> Array:
    """Entropy of the distribution that the logits describe."""
    log_probabilities = log_softmax(xp, logits)
    return -xp.sum(xp.exp(log_probabilities) * log_probabilities)


@textbook(
    "M. Cuturi, NeurIPS 2013",
    lambda rng: (
        rng.random(size=(3, 3)),
        np.log(np.array([0.2, 0.3, 0.5])),
        np.log(np.array([0.4, 0.4, 0.2])),
    ),
)
def sinkhorn(xp: Namespace, costs: Array, log_rows: Array, log_columns: Array) -> Array:
    """Cost of the entropic transport plan after alternating projections of its logarithm."""
    log_plan = -costs / 0.5
    for _ in range(3):
        log_plan = log_plan + (log_rows - log_sum_exp(xp, log_plan, axis=1))[:, None]
        log_plan = log_plan + log_columns - log_sum_exp(xp, log_plan, axis=0)
    return xp.sum(xp.exp(log_plan) * costs)


@textbook(
    "L. Page, S. Brin, R. Motwani and T. Winograd, 1999",
    lambda rng: (rng.uniform(0.2, 1.0, size=(3, 3)), np.array(0.85)),
    argnums=(0, 1),
)
def pagerank(xp: Namespace, links: Array, damping: Array) -> Array:
    """Logarithm of the first page's rank after power iterations."""
    moves = links / xp.sum(links, axis=0)
    ranks = xp.full(3, 1.0 / 3.0)
    for _ in range(6):
        ranks = damping * (moves @ ranks) + (1.0 - damping) / 3.0
    return xp.log(ranks[0])


# Neural networks.


@textbook(
    "R. T. Q. Chen, Y. Rubanova, J. Bettencourt and D. Duvenaud, NeurIPS 2018",
    lambda rng: (
        rng.normal(size=(2, 2)),
        rng.normal(size=2),
        rng.normal(size=(3, 2)),
        rng.normal(size=(3, 2)),
    ),
    argnums=(0, 1),
)
def neural_ode(xp: Namespace, weights: Array, bias: Array, starts: Array, ends: Array) -> Array:
    """Misfit of points carried along a learned field by Euler steps."""
    states = starts
    for _ in range(6):
        states = states + 0.2 * xp.tanh(states @ weights + bias)
    return xp.mean((states - ends) ** 2)


@textbook(
    "D. E. Rumelhart, G. E. Hinton and R. J. Williams, Nature 323, 1986",
    lambda rng: (
        rng.normal(size=(2, 3)),
        rng.normal(size=3),
        rng.normal(size=3),
        rng.normal(size=(6, 2)),
        rng.normal(size=6),
    ),
    argnums=(0, 1, 2),
)
def multilayer_perceptron(
    xp: Namespace, hidden: Array, bias: Array, output: Array, inputs: Array, targets: Array
) -> Array:
    """Mean squared error of one hidden layer of tanh units."""
    predictions = xp.tanh(inputs @ hidden + bias) @ output
    return xp.mean((predictions - targets) ** 2)


@textbook(
    "Y. LeCun and others, Neural Computation 1, 1989",
    lambda rng: (rng.normal(size=(3, 3)), np.array(0.1), rng.normal(size=(5, 5))),
    argnums=(0, 1),
)
def convolution(xp: Namespace, kernel: Array, bias: Array, image: Array) -> Array:
    """Mean activation of a small convolution written as shifted slices."""
    response = bias
    for row in range(3):
        for column in range(3):
            response = response + kernel[row, column] * image[row : row + 3, column : column + 3]
    return xp.mean(1.0 / (1.0 + xp.exp(-response)))


@textbook(
    "A. Vaswani and others, NeurIPS 2017",
    lambda rng: (*(rng.normal(size=(2, 2)) for _ in range(3)), rng.normal(size=(4, 2))),
    argnums=(0, 1, 2),
)
def attention_head(
    xp: Namespace, queries: Array, keys: Array, values: Array, tokens: Array
) -> Array:
    """Squared output of scaled dot-product attention over four tokens."""
    scores = (tokens @ queries) @ (tokens @ keys).T / math.sqrt(2.0)
    mixed = xp.exp(log_softmax(xp, scores)) @ (tokens @ values)
    return 0.5 * xp.sum(mixed**2)


@textbook(
    "J. L. Ba, J. R. Kiros and G. E. Hinton, 2016",
    lambda rng: (
        rng.normal(size=(2, 3)),
        rng.normal(size=3),
        rng.normal(size=3),
        rng.normal(size=(2, 3)),
    ),
    argnums=(0, 1, 2),
)
def layer_norm(xp: Namespace, inputs: Array, gain: Array, bias: Array, targets: Array) -> Array:
    """Squared error after normalising every row to zero mean and unit variance."""
    centred = inputs - xp.mean(inputs, axis=-1, keepdims=True)
    normalised = centred / xp.sqrt(xp.var(inputs, axis=-1, keepdims=True) + 1e-5)
    return xp.sum((normalised * gain + bias - targets) ** 2)


@textbook(
    "C. Cortes and V. Vapnik, 1995, and P. J. Huber, 1964",
    lambda rng: (rng.permutation(np.linspace(-2.1, 2.2, 7)),),
)
def piecewise_losses(xp: Namespace, margins: Array) -> Array:
    """Hinge, Huber, clipped and absolute losses, at margins away from every kink."""
    hinge = xp.maximum(0.0, 1.0 - margins) ** 2
    huber = xp.where(xp.abs(margins) < 1.0, 0.5 * margins**2, xp.abs(margins) - 0.5)
    clipped = xp.clip(margins, -1.5, 1.6) * xp.minimum(margins**2, 2.0)
    return xp.sum(hinge + huber + clipped) + xp.max(margins**2) * xp.min(margins)
