"""`torch.distributed.algorithms`: what packages import of it."""
