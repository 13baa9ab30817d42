"""Texts to throw at the compiler: grown from the grammar, mutated, spliced, and plain noise."""
