"""Training scripts written for PyTorch run unmodified with `sys.modules["torch"] = compat`.

With PyTorch installed they begin there and here with the weights of one file, which is written here,
and print the same losses.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parent.parent / "scripts"
STARTS = {
    "compat": "import sys, compat; sys.modules['torch'] = compat; sys.argv = sys.argv[1:]; {}",
    "torch": "import sys; sys.argv = sys.argv[1:]; {}",
}
RUN = "import runpy; runpy.run_path(sys.argv[0], run_name='__main__')"

# script -> options of a short run, and of one in which nothing is drawn but the first weights.
OPTIONS = {
    "gcn": ("--epochs 60", "--epochs 8 --dropout 0"),
    "gpt": ("--max-iters 40", "--max-iters 6 --no-shuffle --top-k 1"),
    "mnist": ("--epochs 1", "--epochs 2 --dry-run 4 --no-shuffle --dropout 0"),
    "vae": ("--epochs 2", "--epochs 2 --dry-run 4 --no-shuffle --mean"),
}
every_script = pytest.mark.parametrize("script", OPTIONS)


def run(world: str, script: str, options: str) -> str:
    """What a script prints when PyTorch, or what stands in for it, is imported as ``torch``."""
    command = [sys.executable, "-c", STARTS[world].format(RUN), f"{SCRIPTS / script}.py"]
    paths = os.pathsep.join([str(SCRIPTS / "standin"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        command + options.split(),
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": paths, "CUDA_VISIBLE_DEVICES": ""},
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def losses(printed: str) -> list[float]:
    return [float(x) for x in re.findall(r"loss: ([\d.]+)", printed, re.IGNORECASE)]


@every_script
def test_a_script_learns(script: str) -> None:
    printed = run("compat", script, OPTIONS[script][0])
    found = [float(x) for x in re.findall(r"\tLoss: ([\d.]+)", printed)]
    first, last = sum(found[:3]) / 3, sum(found[-3:]) / 3
    assert len(found) >= 20 and last < 0.75 * first, (first, last)


@every_script
def test_a_script_prints_what_it_prints_on_pytorch(script: str, tmp_path: Path) -> None:
    if importlib.util.find_spec("torch") is None:
        pytest.skip("PyTorch is not installed")
    weights = tmp_path / "weights.pt"
    run("compat", script, f"{OPTIONS[script][1]} --save-model {weights}")
    options = f"{OPTIONS[script][1]} --weights {weights} --save-model {tmp_path / 'end.pt'}"
    ours, theirs = run("compat", script, options), run("torch", script, options)
    assert len(losses(ours)) >= 6
    assert losses(ours) == pytest.approx(losses(theirs), rel=2e-5)
    blank = re.compile(r"loss: [\d.]+", re.IGNORECASE)
    assert blank.sub("", ours) == blank.sub("", theirs)
