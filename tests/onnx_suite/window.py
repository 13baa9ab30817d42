"""What convolutions and pools share: windows that step, are spread and reach over the edge."""

from __future__ import annotations

from dataclasses import dataclass

from tests.onnx_suite.cases import Node


@dataclass(frozen=True, slots=True)
class Window:
    """The spatial axes, by their texts: X0 is an extent of the data, K0 of the window, i0 an output, u0 a tap."""

    rank: int
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[int, ...]       # all low ones, then all high ones
    auto: str                   # NOTSET, VALID, SAME_UPPER or SAME_LOWER
    ceil: bool

    @classmethod
    def of(cls, node: Node, rank: int) -> Window:
        """The window of a node over data with ``rank`` spatial axes."""
        auto = bytes(node.attributes.get("auto_pad", b"NOTSET")).decode()
        return cls(rank, node.ints("strides", (1,) * rank), node.ints("dilations", (1,) * rank),
                   node.ints("pads", (0,) * 2 * rank), auto, bool(node.attributes.get("ceil_mode", 0)))

    @property
    def constants(self) -> dict[str, int]:
        """Stride, dilation and, where they are given, pads of each axis."""
        found = {f"S{axis}": stride for axis, stride in enumerate(self.strides)}
        found |= {f"D{axis}": dilation for axis, dilation in enumerate(self.dilations)}
        if self.auto == "NOTSET":
            found |= {f"P{axis}": pad for axis, pad in enumerate(self.pads[:self.rank])}
            found |= {f"Q{axis}": pad for axis, pad in enumerate(self.pads[self.rank:])}
        return found

    def low(self, axis: int) -> str:
        """How many elements there are before the first one."""
        needed = f"max((ceildiv(X{axis}, S{axis}) - 1)*S{axis} + D{axis}*(K{axis} - 1) + 1 - X{axis}, 0)"
        low = {"NOTSET": f"P{axis}", "VALID": "0", "SAME_UPPER": f"{needed}//2", "SAME_LOWER": f"({needed} + 1)//2"}
        return low[self.auto]

    def extents(self) -> list[str]:
        """Extents of the output."""
        return [self._extent(axis) for axis in range(self.rank)]

    def _extent(self, axis: int) -> str:
        x, s = f"X{axis}", f"S{axis}"
        if self.auto.startswith("SAME"):
            return f"ceildiv({x}, {s})"
        low, both = (f"P{axis}", f"{x} + P{axis} + Q{axis}") if self.auto == "NOTSET" else ("0", x)
        room = f"{both} - D{axis}*(K{axis} - 1) - 1"
        # with ceil_mode the last window may hang over the end, but must not begin past the data
        return f"min(ceildiv({room}, {s}) + 1, ceildiv({x} + {low}, {s}))" if self.ceil else f"({room})//{s} + 1"

    def places(self) -> list[str]:
        """Where a tap of the window lies in the data."""
        return [f"S{axis}*i{axis} + D{axis}*u{axis} - {self.low(axis)}" for axis in range(self.rank)]
