"""Which reading of the paper reproduces most of its statements."""
