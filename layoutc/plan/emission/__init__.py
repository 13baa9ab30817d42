"""From a move to the steps of a ``__device__`` function."""
