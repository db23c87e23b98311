"""`torch.distributed.elastic`: what packages import of it."""
