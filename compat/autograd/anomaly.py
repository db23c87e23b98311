"""Anomaly detection: a backward that fails, or finds NaN, says where its forward was.

While it is on, every node keeps the user's stack (`node.note_forward`), and the engine looks at every
gradient (`engine._require_numbers`).
"""

from __future__ import annotations

from typing import Any

from . import modes, sites


class detect_anomaly(modes.ModeSwitch):
    """Inside, errors of backward show the forward call; with `check_nan`, NaN is an error.

    >>> import compat as torch, warnings
    >>> warnings.simplefilter("ignore")
    >>> x = torch.tensor(0.0, requires_grad=True)
    >>> try:
    ...     with torch.autograd.detect_anomaly():
    ...         y = x.sqrt() * 0
    ...         y.backward()
    ... except RuntimeError as error:
    ...     print(str(error).partition(".")[0])
    Function 'SqrtBackward0' returned nan values in its 0th output
    """

    def __init__(self, check_nan: bool = True) -> None:
        self.changes = {"anomaly": bool(check_nan)}
        sites.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should "
            "only be enabled for debugging."
        )

    def clone(self) -> modes.ModeSwitch:
        return modes.ModeSwitch(**self.changes)


class set_detect_anomaly(modes.ModeSwitch):
    """Switch anomaly detection on or off, from the call on; as a context manager only inside it."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.changes = {"anomaly": bool(check_nan) if mode else None}
        self._before = modes.get()
        modes.current.set(modes.changed(**self.changes))

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: Any) -> None:
        modes.current.set(self._before)


def is_anomaly_enabled() -> bool:
    """Whether anomaly detection is on."""
    return modes.get().anomaly is not None


def is_anomaly_check_nan_enabled() -> bool:
    """Whether a NaN in backward is an error."""
    return bool(modes.get().anomaly)


__all__ = [
    "detect_anomaly",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "set_detect_anomaly",
]
