"""Small data sets that come with the package, so that examples and tests need no download."""

from importlib.resources import files
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Digits", "load_digits"]


class Digits(NamedTuple):
    """The handwritten digits: one 8x8 grey image and one label for each of 1797 samples.

    Shapes: `images` (1797, 8, 8); `labels` (1797,).
    Dtypes: both uint8; pixels run from 0 (paper) to 16 (ink), labels from 0 to 9.
    Source: see `load_digits`.

    >>> Digits._fields
    ('images', 'labels')
    """

    images: NDArray[np.uint8]
    labels: NDArray[np.uint8]


def load_digits() -> Digits:
    """Read the handwritten digits into new arrays, which the caller may change freely.

    Shapes: `images` (1797, 8, 8); `labels` (1797,).
    Dtypes: both uint8; pixels run from 0 (paper) to 16 (ink), labels from 0 to 9.
    Source: "Optical Recognition of Handwritten Digits", E. Alpaydin and C. Kaynak, UCI Machine
    Learning Repository, 1998, https://doi.org/10.24432/C50P49, licence CC BY 4.0; the test
    partition, in its own order.

    >>> images, labels = load_digits()
    >>> images.shape, images.dtype, int(images.max())
    ((1797, 8, 8), dtype('uint8'), 16)
    >>> labels[:10].tolist()
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    """
    resource = files("funcgrad.datasets").joinpath("digits.npz")
    with resource.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
        return Digits(images=arrays["images"], labels=arrays["labels"])
