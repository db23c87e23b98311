"""Products of a short signal at every place of a long one: ``z_i = sum_k x_(i + k) w_k``.

Layer 0. NumPy has its own loops for up to 11 taps; longer ones are a scalar product for each place.
With `_BLOCK` places at a time these are one matrix product, of overlapping pieces of the signal with a
band that has the taps one place further in each column. 100,000 doubles with 50 taps take 0.6 instead
of 1.1 ms, singles 0.25 instead of 1.4; with 500 taps 17 instead of 24, and 1.6 instead of 10.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_TAPS_OF_NUMPY = 11
_BLOCK = {False: 32, True: 128}  # places, for up to `_MANY` taps and for more
_MANY = 200
_PIECE = 4096  # taps of one band
_WORK = 100_000  # products from which on blocks pay
_BUFFER = 1 << 20  # elements of the pieces that are laid out at a time


def slid(x: Any, w: Any) -> Any:
    """The sums at all places where `w` lies within `x`.

    Shapes: ``(m,), (n,) -> (m - n + 1,)``, n at most m.   Dtypes: numbers, the same.

    >>> slid(np.array([1.0, 2.0, 4.0]), np.array([1.0, 10.0])).tolist()
    [21.0, 42.0]
    """
    places, taps = x.size - w.size + 1, w.size
    blocks = taps > _TAPS_OF_NUMPY and places >= taps and places * taps >= _WORK
    # The band's zeros would make NaN of what is not finite.
    if not blocks or x.dtype.char not in "fd" or not np.isfinite(x.sum() + w.sum()):
        return np.correlate(x, w.conj() if w.dtype.kind == "c" else w, "valid")
    out = _by_blocks(x[: places + min(taps, _PIECE) - 1], w[:_PIECE])
    for k in range(_PIECE, taps, _PIECE):
        piece = w[k : k + _PIECE]
        out += _by_blocks(x[k : k + places + piece.size - 1], piece)
    return out


def rows_slid(x: Any, w: Any, shape: tuple[int, ...]) -> Any:
    """`slid` for each row of `x` with the row of `w` that belongs to it.

    Shapes: ``x: (n, g, m), w: (g, 1, k) -> (n, g, m - k + 1)``, which is `shape`.
    """
    places, length = shape[2], x.shape[2]
    if len(w) == 1 and len(x) > 1 and length < 2 * places:  # in one go: some lie across two rows
        whole = np.zeros((len(x), 1, length), x.dtype)
        found = slid(x.reshape(-1), w[0, 0])
        whole.reshape(-1)[: found.size] = found
        return np.ascontiguousarray(whole[:, :, :places])
    out = np.empty(shape, x.dtype)
    for i in range(len(x)):
        for k in range(len(w)):
            out[i, k] = slid(x[i, k], w[k, 0])
    return out


def _by_blocks(x: Any, w: Any) -> Any:
    places, taps = x.size - w.size + 1, w.size
    block = _BLOCK[taps > _MANY]
    count = -(-places // block)
    width = block + taps - 1
    signal = np.zeros(count * block + taps - 1, x.dtype)
    signal[: x.size] = x
    band = np.zeros((block, width + 1), w.dtype)
    band[:, :taps] = w
    band = band.reshape(-1)[: block * width].reshape(block, width).T
    pieces = np.lib.stride_tricks.as_strided(
        signal, (count, width), (block * x.itemsize, x.itemsize)
    )
    out = np.empty((count, block), x.dtype)
    step = max(1, _BUFFER // width)
    for i in range(0, count, step):
        np.matmul(np.ascontiguousarray(pieces[i : i + step]), band, out=out[i : i + step])
    return out.reshape(-1)[:places]
