"""Filters of scipy.ndimage as kernels: the same names, arguments and errors, on NumPy and CuPy arrays.

    from layoutc import ndimage
    y = ndimage.gaussian_filter(x, 2.0, mode="nearest")

Each call writes a text of the layout language for its axes, edges and types, and runs it. Where they differ from
scipy.ndimage: sums of integers are exact instead of in f64; separable filters round once, not once an axis; NaN
propagates through minima, maxima and ranks from either side.
"""

from layoutc.ndimage.arrays import on_device
from layoutc.ndimage.derivatives import generic_gradient_magnitude, generic_laplace, laplace, prewitt, sobel
from layoutc.ndimage.gaussian import (
    gaussian_filter,
    gaussian_filter1d,
    gaussian_gradient_magnitude,
    gaussian_laplace,
)
from layoutc.ndimage.linear import (
    convolve,
    convolve1d,
    correlate,
    correlate1d,
    uniform_filter,
    uniform_filter1d,
)
from layoutc.ndimage.ranks import (
    maximum_filter,
    maximum_filter1d,
    median_filter,
    minimum_filter,
    minimum_filter1d,
    percentile_filter,
    rank_filter,
)
from layoutc.ndimage.running import written

__all__ = [
    "convolve", "convolve1d", "correlate", "correlate1d", "gaussian_filter", "gaussian_filter1d",
    "gaussian_gradient_magnitude", "gaussian_laplace", "generic_gradient_magnitude", "generic_laplace", "laplace",
    "maximum_filter", "maximum_filter1d", "median_filter", "minimum_filter", "minimum_filter1d", "on_device",
    "percentile_filter", "prewitt", "rank_filter", "sobel", "uniform_filter", "uniform_filter1d", "written",
]
