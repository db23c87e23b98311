"""Samples of spherical harmonics: of low degree, away from the poles, also where they are 0."""

from __future__ import annotations

from . import floats, integers, operands

SAMPLES = {
    "sph_harm_y": operands(
        integers(0, 4), integers(-3, 3), floats(0.3, 2.8), floats(-3, 3), weak=False
    )
}
