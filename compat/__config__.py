"""`torch.__config__`: what computes here, and on how many threads."""

from __future__ import annotations

import json
import os

import numpy as np

from .settings import get_num_threads

_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def show() -> str:
    """NumPy's version, and how it was built."""
    built = json.dumps(np.show_config(mode="dicts"), indent=2)
    return f"NumPy {np.__version__}\n{built}\n"


def parallel_info() -> str:
    """Numbers of threads and processors, and the variables that libraries read.

    >>> parallel_info().startswith("threads: ")
    True
    """
    lines = [f"threads: {get_num_threads()}", f"processors: {os.cpu_count()}"]
    lines += [f"{name}: {os.environ.get(name, '[not set]')}" for name in _VARIABLES]
    return "\n".join(lines) + "\n"
