"""Sums of products on the arithmetic units: what they are, how they are divided, and the steps that make them."""
