"""The shipped data are the published numbers, unchanged."""

import hashlib
from importlib.resources import files

import numpy as np

from funcgrad.datasets import Digits, load_digits


def test_shapes_dtypes_and_ranges() -> None:
    digits = load_digits()
    assert isinstance(digits, Digits)
    assert digits.images.shape == (1797, 8, 8)
    assert digits.labels.shape == (1797,)
    assert digits.images.dtype == digits.labels.dtype == np.uint8
    assert (digits.images.min(), digits.images.max()) == (0, 16)


def test_class_counts() -> None:
    counts = np.bincount(load_digits().labels)
    assert counts.tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]


def test_every_value_is_the_published_one() -> None:
    images, labels = load_digits()
    assert hashlib.sha256(images.tobytes()).hexdigest() == (
        "8f26b2bd9d135c256808f68f14fdabddde6d9c7f869ae419704b051f0f14b3b3"
    )
    assert hashlib.sha256(labels.tobytes()).hexdigest() == (
        "8ba4f891220f5e4c9c819638d1602d74b83618f167043c6da52a2a247841ddf0"
    )


def test_the_first_image_is_a_zero() -> None:
    images, labels = load_digits()
    assert labels[0] == 0
    assert images[0, 0].tolist() == [0, 0, 5, 13, 9, 1, 0, 0]
    assert images[0, 3:5, 3:5].max() == 0  # the hole in the middle


def test_callers_do_not_share_arrays() -> None:
    first = load_digits()
    first.images[:] = 0
    first.labels[:] = 0
    second = load_digits()
    assert second.images.max() == 16
    assert second.labels.max() == 9


def test_the_file_is_small_and_its_source_is_beside_it() -> None:
    folder = files("funcgrad.datasets")
    assert len(folder.joinpath("digits.npz").read_bytes()) < 150_000
    source = folder.joinpath("README.md").read_text(encoding="utf-8")
    assert "10.24432/C50P49" in source
    assert "CC BY 4.0" in source
