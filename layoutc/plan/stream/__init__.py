"""Steps that pass through registers: the shape of a block, and its text."""
