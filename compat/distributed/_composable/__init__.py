"""`torch.distributed._composable`: older names of what spreads a module over processes."""
