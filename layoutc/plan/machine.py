"""What all GPUs that are planned for have in common; what differs from one to the next is a Target's."""

from __future__ import annotations

WARP = 32                   # threads that go together
REGISTERS = 2**16           # of a multiprocessor, of 32 bits
WORD = 4                    # bytes of a register
ACCESS_BYTES = 16           # that one access of a thread moves at most
SECTOR = 32                 # bytes that memory moves at least
LINE_BYTES = 128            # of shared memory, in which every bank comes once
ASYNCHRONOUS = (4, 8, 16)   # bytes that one copy in the background moves
BOX_AXES = 5                # of a tensor of which boxes are copied, at most
BOX_SIDE = 256              # elements of a box along an axis, at most
