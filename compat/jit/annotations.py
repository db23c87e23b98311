"""`torch.jit.annotations`: the names of types that scripted code imports from here."""

from typing import Any, Dict, List, Optional, Tuple, Union  # noqa: UP035

__all__ = ["Any", "Dict", "List", "Optional", "Tuple", "Union"]
