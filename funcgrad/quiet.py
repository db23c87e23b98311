"""NumPy's floating-point warnings off around one operation: what `np.errstate` does, for less.

Layer 0. ``np.errstate(all="ignore")`` takes 2.4 us, longer than most operations on small arrays,
since it makes a new state each time. NumPy keeps the state in a `ContextVar`; here the one of a first
`np.errstate` is set again and again, which takes 0.25 us:

>>> token = set_state(QUIET)
>>> try:
...     print(np.log(np.zeros(1)))
... finally:
...     reset_state(token)
[-inf]
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from typing import Any

import numpy as np

get_state: Callable[[], Any]  # as the caller has it
set_state: Callable[[Any], Any]  # returns a token
reset_state: Callable[[Any], Any]  # (token): as it was


def _variable() -> Any:
    """The `ContextVar` in which NumPy keeps the state, and the quiet state; None if it has none."""
    before = contextvars.copy_context()
    with np.errstate(all="ignore"):
        inside = contextvars.copy_context()
    changed = [(v, state) for v, state in inside.items() if v not in before or before[v] != state]
    return changed[0] if len(changed) == 1 else None


_found = _variable()
if _found is not None:
    _state, QUIET = _found
    get_state, set_state, reset_state = _state.get, _state.set, _state.reset
else:
    QUIET = {"all": "ignore"}
    get_state = np.geterr

    def set_state(state: Any) -> Any:
        return np.seterr(**state)

    def reset_state(token: Any) -> Any:
        np.seterr(**token)
