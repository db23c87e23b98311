"""`Compose`, `ToTensor` and `Normalize`, for arrays of pixels."""

import torch


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, image):
        for transform in self.transforms:
            image = transform(image)
        return image


class ToTensor:
    def __call__(self, image):
        return torch.from_numpy(image / 255.0).unsqueeze(0).float()


class Normalize:
    def __init__(self, mean, std):
        self.mean, self.std = torch.tensor(mean), torch.tensor(std)

    def __call__(self, image):
        return (image - self.mean.view(-1, 1, 1)) / self.std.view(-1, 1, 1)
