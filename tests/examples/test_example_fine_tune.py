"""ResNet-18: the same numbers as on PyTorch, and a frozen part that costs and changes nothing."""

from __future__ import annotations

import functools
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from running import EXAMPLES, load
from stopping import stop_and_go_on

import compat as torch

fine_tune = load("fine_tune")
resnet = load("resnet")

SMALL = ["--images", "48", "--batch", "8", "--pretrain-epochs", "3", "--epochs", "4"]


# Nodes that `Linear` may record.
LINEAR = {"AddmmBackward0", "MmBackward0", "TBackward0"}


@functools.cache
def on_pytorch() -> ModuleType:
    """`resnet.py` with PyTorch in compat's place."""
    pytest.importorskip("torch")
    source = (EXAMPLES / "nn" / "resnet.py").read_text()
    assert source.count("import compat as torch") == 1
    module = ModuleType("resnet_on_pytorch")
    exec(source.replace("import compat as torch", "import torch"), vars(module))
    return module


def logits_and_gradients(lib: Any, model: Any, images: Any, labels: Any) -> dict[str, np.ndarray]:
    """Logits, every gradient and, after that, every parameter and buffer."""
    logits = model(lib.from_numpy(images))
    lib.nn.functional.cross_entropy(logits, lib.from_numpy(labels)).backward()
    found = {"logits": logits.detach().numpy()}
    found |= {f"grad of {name}": p.grad.numpy() for name, p in model.named_parameters()}
    found |= {name: x.detach().numpy() for name, x in model.state_dict().items()}
    return found


@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
@pytest.mark.parametrize(("dtype", "close"), [("float32", 1e-5), ("float64", 1e-10)])
@pytest.mark.parametrize("writer", ["compat", "torch"])
def test_as_on_pytorch(
    tmp_path: Path, writer: str, dtype: str, close: float, training: bool
) -> None:
    pytorch = on_pytorch()
    libs = {"compat": (torch, resnet), "torch": (pytorch.torch, pytorch)}
    lib, source = libs[writer]
    lib.manual_seed(0)
    rng = np.random.default_rng(0)
    images = rng.normal(size=(4, 3, 64, 64)).astype(dtype)
    labels = rng.integers(0, 10, 4)
    lib.manual_seed(0)
    saved = source.resnet18(10).to(getattr(lib, dtype))
    for module in saved.modules():
        if isinstance(module, lib.nn.BatchNorm2d):
            module.momentum = 0.9
            if dtype == "float32":  # keep off ReLU's kink, where rounding would choose the side
                lib.nn.init.constant_(module.bias, 4.0)
    saved(lib.from_numpy(images))  # the batch norms get statistics
    lib.save(saved.state_dict(), tmp_path / "resnet18.pth")

    ours, theirs = (
        logits_and_gradients(lib, loaded(lib, source, tmp_path, dtype, training), images, labels)
        for lib, source in libs.values()
    )
    assert ours.keys() == theirs.keys() and len(ours) == 1 + 62 + 122
    steepest = max(np.abs(theirs[name]).max() for name in theirs if name.startswith("grad"))
    for name, value in theirs.items():
        assert ours[name].dtype == value.dtype
        scale = steepest if name.startswith("grad") else np.abs(value).max()
        np.testing.assert_allclose(ours[name], value, rtol=0, atol=close * scale, err_msg=name)


def loaded(lib: Any, source: Any, folder: Path, dtype: str, training: bool) -> Any:
    model = source.resnet18(10).to(getattr(lib, dtype)).train(training)
    model.load_state_dict(lib.load(folder / "resnet18.pth", weights_only=True))
    return model


def test_a_short_run(tmp_path: Path) -> None:
    found = fine_tune.main([*SMALL, "--out", str(tmp_path)])
    assert found["last_loss"] < found["first_loss"] - 0.1
    assert found["pretrain_last_loss"] < found["pretrain_first_loss"] - 0.2
    made = {path.name for path in tmp_path.iterdir()}
    assert {"fine_tune_loss.png", "fine_tune_filters.png", "resnet18_digits.pth"} <= made
    before = torch.load(tmp_path / "resnet18_digits.pth")
    after = torch.load(tmp_path / "resnet18_fine_tuned.pth")
    changed = [name for name in before if not torch.equal(before[name], after[name])]
    assert changed == ["fc.weight", "fc.bias"]
    assert found["frozen_steps"] < 10 < 100 < found["whole_steps"]
    of_features = 8 * 512 * 4  # bytes: what `fc` was given is all that is kept, but for the loss's
    assert of_features <= found["frozen_bytes"] < of_features + 2000
    assert found["whole_bytes"] > 1000 * of_features


def test_an_interrupted_run_goes_on_exactly(tmp_path: Path) -> None:
    """It stops while `fc` is trained, so the training before it is not repeated."""
    steps_before = 3 * 6
    through, resumed = stop_and_go_on(fine_tune, "shifted", steps_before + 8, SMALL, tmp_path)
    assert resumed == through


def test_the_frozen_part_makes_no_graph() -> None:
    model = fine_tune.freeze(resnet.resnet18(10), 5)
    learning = [name for name, p in model.named_parameters() if p.requires_grad]
    assert learning == ["fc.weight", "fc.bias"]
    outputs: list[torch.Tensor] = []
    base = [m for m in model.modules() if m not in (model, model.fc) and not list(m.children())]
    for module in base:
        module.register_forward_hook(lambda module, args, out: outputs.append(out))
    logits = model(torch.rand(2, 3, 32, 32))
    assert len(outputs) == 20 + 20 + 1 + 2 * 8 + 2
    assert all(x.grad_fn is None and not x.requires_grad for x in outputs)
    assert "AccumulateGrad" in nodes_behind(logits)
    assert nodes_behind(logits) <= {"AccumulateGrad", *LINEAR}
    logits.sum().backward()
    assert [p.grad is None for p in model.parameters()] == [True] * 60 + [False] * 2


def nodes_behind(x: torch.Tensor) -> set[str]:
    """Names of the nodes of a graph, found as PyTorch's users find them."""
    found, stack = set(), [x.grad_fn]
    while stack:
        node = stack.pop()
        if node is not None:
            found.add(node.name().rpartition("::")[2])
            stack += [edge for edge, _ in node.next_functions]
    return found


def test_batch_norms_of_a_frozen_part_in_training_mode_do_change() -> None:
    """What `freeze` prevents: without `eval()` the statistics move even if no gradient does."""
    model = fine_tune.freeze(resnet.resnet18(10), 5)
    images = torch.rand(4, 3, 32, 32)
    before = model.bn1.running_mean.clone()
    model(images)
    assert torch.equal(model.bn1.running_mean, before)
    model.train()(images)
    assert not torch.equal(model.bn1.running_mean, before)
