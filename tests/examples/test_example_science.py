"""examples/science: what they find is what others have found, and where they stop the slope is zero."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from running import load

import funcgrad


def figures(name: str, folder: Path) -> dict[str, float]:
    found: dict[str, float] = load(name, "science").main(["--out", str(folder)])
    assert (folder / f"{name}.png").stat().st_size > 5000
    return found


def test_fit_has_the_certified_digits(tmp_path: Path) -> None:
    found = figures("fit", tmp_path)
    assert found["error"] < 1e-9 and found["deviation_error"] < 1e-7
    # The deviation of what is computed is that of draws from the parameters' distribution.
    fit = load("fit", "science")
    draws = np.random.default_rng(0).multivariate_normal(*fit.fit(), size=4000)
    assert found["half_deviation"] == pytest.approx(
        np.std([fit.half_pressure(b) for b in draws]), rel=0.05
    )


def test_survival_is_survregs(tmp_path: Path) -> None:
    """Of R, with the same data and distribution."""
    found = figures("survival", tmp_path)
    assert found["effect"] == pytest.approx(1.267, abs=5e-4)
    assert found["effect_error"] == pytest.approx(0.311, abs=5e-4)
    assert found["level"] == pytest.approx(2.248, abs=5e-4)
    assert found["log_scale"] == pytest.approx(-0.312, abs=5e-4)
    assert found["log_likelihood"] == pytest.approx(-106.6, abs=0.05)


def test_nile_is_the_textbooks(tmp_path: Path) -> None:
    found = figures("nile", tmp_path)
    assert found["noise"] == pytest.approx(15099, rel=5e-4)
    assert found["wander"] == pytest.approx(1469.1, rel=5e-4)
    assert found["slope"] < 1e-4


def test_hares(tmp_path: Path) -> None:
    """Near the means of a posterior with these priors, and where the gradient is zero."""
    found = figures("hares", tmp_path)
    assert found["slope"] < 1e-3
    for name, mean in {"births": 0.55, "eaten": 0.028, "deaths": 0.80, "fed": 0.024}.items():
        assert found[name] == pytest.approx(mean, rel=0.05)


def test_the_eight_closes_and_is_stable(tmp_path: Path) -> None:
    found = figures("eight", tmp_path)
    assert found["missing"] < 1e-8
    assert found["off_circle"] < 1e-3


def test_schools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load("schools", "science"), "STEPS", 1500)
    found = figures("schools", tmp_path)
    assert found["mean"] == pytest.approx(4.4, abs=0.4)
    assert found["spread"] == pytest.approx(3.6, abs=0.5)
    assert found["mixing"] < 1.02 and 0.8 < found["taken"] < 0.99


def test_heat(tmp_path: Path) -> None:
    found = figures("heat", tmp_path)
    assert found["error"] < 0.1 and found["inside"] >= 0.8
    heat = load("heat", "science")

    def total(u: Any) -> Any:
        return np.sum(heat.cooling(u, dt=1e-4)[:5] ** 2)

    funcgrad.testing.check_grads(total, (np.linspace(0.0, 1.0, heat.CELLS),))
