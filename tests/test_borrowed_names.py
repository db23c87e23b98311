"""Scripts whose imports cannot be changed: `sys.modules["jax"] = funcgrad`."""

from __future__ import annotations

import subprocess
import sys

import pytest

import funcgrad
from funcgrad.errors import ArgumentError

SCRIPT = """
import sys
import funcgrad
sys.modules["{name}"] = funcgrad

import {name}
import {name}.numpy as jnp
import {name}.scipy.stats as stats
import {name}.scipy.stats.norm as norm
from {name} import grad, jit, lax, random, vmap
from {name}.nn import relu
from {name}.scipy.special import logsumexp

assert {name}.numpy is jnp is funcgrad.numpy and stats is funcgrad.scipy.stats
assert norm is stats.norm is funcgrad.scipy.stats.norm and not hasattr(norm, "__spec__")
assert jnp.__spec__.name == "funcgrad.numpy" and lax.scan is funcgrad.lax.scan

{name}.config.update("jax_enable_x64", True)

def loss(w, x):
    return jnp.mean(logsumexp(relu(x @ w), axis=1)) - stats.norm.logpdf(w).sum()

w, x = random.normal(random.key(0), (3, 2)), random.normal(random.key(1), (5, 3))
each = jit(vmap(grad(loss), (None, 0)))(w, x[:, None])
print(float(jnp.sum(jit(grad(loss))(w, x) - each.mean(0)).round(9)))
try:
    import {name}.experimental.pallas
except ModuleNotFoundError as error:
    print(error)
"""


def test_an_alias_is_the_package_itself() -> None:
    for name in ("jax", "agrad"):
        ran = subprocess.run(
            [sys.executable, "-c", SCRIPT.format(name=name)], capture_output=True, text=True
        )
        assert ran.returncode == 0, ran.stderr
        value, message = ran.stdout.splitlines()
        assert float(value) == 0.0
        assert message == (
            f"No module named '{name}.experimental': funcgrad.experimental stands for it and is not "
            "offered here"
        )


def test_settings_that_do_not_hold_here_are_refused() -> None:
    for name, value in (("jax_enable_x64", False), ("jax_debug_nans", True), ("no_setting", 1)):
        with pytest.raises(ArgumentError, match=f"{name}={value}"):
            funcgrad.config.update(name, value)


def test_config_in_itself() -> None:
    from funcgrad.compile.config import code

    before, inner = code(), funcgrad.config("numpy")
    with inner, funcgrad.config("c"), inner:
        assert code() == "numpy"
    assert code() == before
