"""Sums of products on tensor cores: what is one, how a block divides it, and the steps that it takes."""
