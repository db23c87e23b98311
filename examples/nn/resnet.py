"""ResNet-18 as PyTorch's users write it, with torchvision's names of parameters.

K. He et al., "Deep Residual Learning for Image Recognition", 2016, https://arxiv.org/abs/1512.03385.
A state dict of torchvision's `resnet18` loads into it. Nothing here but the first import names
compat, so the same file runs on PyTorch.
"""

from __future__ import annotations

import compat as torch

nn = torch.nn


class BasicBlock(nn.Module):
    """Two convolutions and a way around them."""

    def __init__(self, inside: int, planes: int, stride: int = 1) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inside, planes, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(planes, planes, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.downsample = None
        if stride != 1 or inside != planes:
            self.downsample = nn.Sequential(
                nn.Conv2d(inside, planes, 1, stride, bias=False), nn.BatchNorm2d(planes)
            )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        around = x if self.downsample is None else self.downsample(x)
        x = self.relu(self.bn1(self.conv1(x)))
        x = self.bn2(self.conv2(x))
        x += around
        return self.relu(x)


class ResNet(nn.Module):
    """`blocks` residual blocks in each of four layers; each layer but the first halves the image."""

    def __init__(self, blocks: tuple[int, int, int, int], classes: int = 1000) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        self.layer1 = self._layer(64, 64, blocks[0], 1)
        self.layer2 = self._layer(64, 128, blocks[1], 2)
        self.layer3 = self._layer(128, 256, blocks[2], 2)
        self.layer4 = self._layer(256, 512, blocks[3], 2)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(512, classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    @staticmethod
    def _layer(inside: int, planes: int, blocks: int, stride: int) -> nn.Sequential:
        first = BasicBlock(inside, planes, stride)
        return nn.Sequential(first, *(BasicBlock(planes, planes) for _ in range(blocks - 1)))

    def features(self, x: torch.Tensor) -> torch.Tensor:
        """512 numbers for each image: all but `fc`."""
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return torch.flatten(self.avgpool(x), 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(self.features(x))


def resnet18(classes: int = 1000) -> ResNet:
    """11.7 million parameters with 1000 classes."""
    return ResNet((2, 2, 2, 2), classes)
