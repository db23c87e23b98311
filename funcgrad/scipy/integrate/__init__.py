"""``scipy.integrate``: differential equations, integrals of functions and of samples."""

from .bvp import solve_bvp
from .ode import odeint, solve_ivp
from .quadrature import dblquad, fixed_quad, nquad, quad, quad_vec, tplquad
from .samples import cumulative_simpson, cumulative_trapezoid, romb, simpson, trapezoid

__all__ = [
    "cumulative_simpson",
    "cumulative_trapezoid",
    "dblquad",
    "fixed_quad",
    "nquad",
    "odeint",
    "quad",
    "quad_vec",
    "romb",
    "simpson",
    "solve_bvp",
    "solve_ivp",
    "tplquad",
    "trapezoid",
]
