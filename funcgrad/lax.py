"""Control flow that programs can hold: branches and loops.

Outside `jit` and `make_jaxpr` they are plain Python; there they are one step of the program, with
every derivative, and under `vmap` every example takes its own branch and its own number of steps.
Names and signatures are those of `jax.lax`.

>>> import funcgrad, numpy as np
>>> from funcgrad.lax import scan
>>> def decay(rate, dt):
...     return scan(lambda y, _: (y - dt * rate * y, y), 1.0, length=3)[1]
>>> decay(0.5, 1.0).tolist()
[1.0, 0.5, 0.25]
>>> funcgrad.jit(funcgrad.jacfwd(decay))(0.5, 1.0).tolist()
[0.0, -1.0, -1.0]
"""

from .transforms.control import cond, switch
from .transforms.loops import associative_scan, map, scan
from .transforms.until import fori_loop, while_loop

__all__ = ["associative_scan", "cond", "fori_loop", "map", "scan", "switch", "while_loop"]
