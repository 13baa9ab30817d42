"""The NumPy meaning of kernels and redistributions: the oracle of every test, which sees no plan."""

from layoutc.reference.evaluate import evaluate
from layoutc.reference.redistribution import evaluate_redistribution, wrong_items

__all__ = ["evaluate", "evaluate_redistribution", "wrong_items"]
