"""Reductions that many threads make together: which they are, what each thread takes, how they meet."""
