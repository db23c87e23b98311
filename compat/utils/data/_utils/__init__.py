"""`torch.utils.data._utils`: where PyTorch's code has the parts of its loader."""
