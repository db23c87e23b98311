"""`torch.utils.flop_counter`: packages make counters; nothing is counted here."""

from __future__ import annotations

from typing import Any, NoReturn


class FlopCounterMode:
    """A counter of floating-point operations that has counted none.

    Raises: NotImplementedError: it is to count, as a ``with`` statement would have it.

    >>> FlopCounterMode(display=False).get_total_flops()
    0
    """

    def __init__(
        self, mods: Any = None, depth: int = 2, display: bool = True, custom_mapping: Any = None
    ) -> None:
        self.flop_counts: dict[str, dict[Any, int]] = {}

    def __enter__(self) -> NoReturn:
        raise NotImplementedError(
            "FlopCounterMode: operations are not counted here; run the code without the counter "
            "(of Lightning: without example_input_array, or enable_model_summary=False)"
        )

    def __exit__(self, *args: object) -> None:
        pass

    def get_flop_counts(self) -> dict[str, dict[Any, int]]:
        """The counts by module: there are none."""
        return self.flop_counts

    def get_total_flops(self) -> int:
        """0."""
        return 0
