"""`MNIST`, of the small digits that come with funcgrad: 28 x 28 pixels from 0 to 255."""

import numpy as np

from funcgrad.datasets import load_digits

PIXELS = 28


class MNIST:
    def __init__(self, root, train=True, transform=None, download=False):
        images, labels = load_digits()
        part = slice(None, 1500) if train else slice(1500, None)
        nearest = np.arange(PIXELS) * images.shape[1] // PIXELS
        big = images[part][:, nearest][:, :, nearest].astype(np.float32)
        self.images, self.labels = big * (255 / 16), labels[part]
        self.transform = transform

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        image = self.images[index]
        return image if self.transform is None else self.transform(image), int(self.labels[index])
