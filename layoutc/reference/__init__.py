"""The NumPy meaning of a kernel: the oracle of every test, which sees no plan."""

from layoutc.reference.evaluate import evaluate

__all__ = ["evaluate"]
