"""`torch.fx.experimental`: what packages import of it."""
