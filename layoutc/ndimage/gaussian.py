"""Gaussian filters and what is made of their derivatives, after scipy.ndimage."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import NDArray

from layoutc.ndimage.arrays import Array, as_array, output_of
from layoutc.ndimage.checks import check_axes, check_axis, one_each, window
from layoutc.ndimage.derivatives import generic_gradient_magnitude, generic_laplace
from layoutc.ndimage.sums import Pass, along_axes, by_parts

SMALLEST_SIGMA = 1e-15      # an axis with less is left as it is


def gaussian_weights(sigma: float, order: int, radius: int) -> NDArray[np.float64]:
    """A derivative of a Gaussian at -radius … radius, normalised so that the Gaussian itself sums to 1.

    The n-th derivative of phi(x) is q(x) phi(x), with q' - x/sigma^2 q the factor of the next (Hermite's recurrence).
    """
    if order < 0:
        raise ValueError("order must be non-negative")
    x = np.arange(-radius, radius + 1, dtype=np.float64)
    phi = np.exp(-0.5 / sigma**2 * x**2)
    factor = Polynomial([1.0])
    for _ in range(order):
        factor = factor.deriv() - factor * Polynomial([0.0, 1.0 / sigma**2])
    weights: NDArray[np.float64] = factor(x) * (phi / phi.sum())
    return weights


def _pass(axis: int, sigma: float, order: int, mode: str, truncate: float, radius: Any) -> Pass:
    found = int(truncate * float(sigma) + 0.5) if radius is None else radius
    if not isinstance(found, Integral) or found < 0:
        raise ValueError("Radius must be a nonnegative integer.")
    weights = gaussian_weights(float(sigma), order, int(found))[::-1]
    return window(axis, len(weights), 0, mode), weights


def gaussian_filter1d(
    input: Any, sigma: float, axis: int = -1, order: int = 0, output: Any = None, mode: str = "reflect",
    cval: complex = 0.0, truncate: float = 4.0, *, radius: int | None = None,
) -> Array:
    """``gaussian_filter`` along one axis."""
    x = as_array(input)
    target = output_of(output, x, is_complex=x.dtype.kind == "c")
    one = _pass(check_axis(axis, x.ndim), sigma, order, mode, truncate, radius)
    return by_parts(x, target, cval, lambda a, dtype, c: along_axes(a, [one], dtype, c))


def gaussian_filter(
    input: Any, sigma: Any, order: Any = 0, output: Any = None, mode: Any = "reflect", cval: complex = 0.0,
    truncate: float = 4.0, *, radius: Any = None, axes: Any = None,
) -> Array:
    """The array convolved with a Gaussian, or with one of its derivatives.

    Args:
        input: an array, real or complex.
        sigma: standard deviation in elements, an axis or for all; axes with 0 are left as they are.
        order: of the derivative, an axis or for all.
        output: a type for the result, or an array to hold it; None is a new array of the input's type.
        mode: what lies outside, an axis or for all.
        cval: the value outside, where mode is constant.
        truncate: the Gaussian ends after so many sigmas.
        radius: where it ends in elements instead, an axis or for all.
        axes: those that are filtered; None is all of them.

    Sums are in f64 through all axes and rounded once.
    """
    x = as_array(input)
    target = output_of(output, x, is_complex=x.dtype.kind == "c")
    found = check_axes(axes, x.ndim)
    each = [one_each(value, len(found)) for value in (sigma, order, mode, radius)]
    passes = [_pass(a, s, o, m, truncate, r) for a, s, o, m, r in zip(found, *each, strict=True) if s > SMALLEST_SIGMA]
    return by_parts(x, target, cval, lambda a, dtype, c: along_axes(a, passes, dtype, c))


def gaussian_laplace(
    input: Any, sigma: Any, output: Any = None, mode: Any = "reflect", cval: complex = 0.0, *, axes: Any = None,
    **keywords: Any,
) -> Array:
    """The sum of a Gaussian's second derivatives along the axes; ``keywords`` go to ``gaussian_filter``.

    ``mode`` is one for all, or for each axis: that of the derivative along it, which smooths along the others too.
    """
    x, found = _prepared(input, axes)
    sigmas = one_each(sigma, len(found))

    def second(part: Array, axis: int, output: Any, mode: Any, cval: complex) -> Array:
        order = [2 if a == axis else 0 for a in found]
        return gaussian_filter(part, sigmas, order, output, mode, cval, axes=found, **keywords)

    return generic_laplace(x, second, output, mode, cval, axes=found)


def gaussian_gradient_magnitude(
    input: Any, sigma: Any, output: Any = None, mode: Any = "reflect", cval: complex = 0.0, *, axes: Any = None,
    **keywords: Any,
) -> Array:
    """The length of the gradient of a Gaussian-filtered array; arguments as in ``gaussian_laplace``."""
    x, found = _prepared(input, axes)
    sigmas = one_each(sigma, len(found))

    def first(part: Array, axis: int, output: Any, mode: Any, cval: complex) -> Array:
        order = [1 if a == axis else 0 for a in found]
        return gaussian_filter(part, sigmas, order, output, mode, cval, axes=found, **keywords)

    return generic_gradient_magnitude(x, first, output, mode, cval, axes=found)


def _prepared(input: Any, axes: Any) -> tuple[Array, tuple[int, ...]]:
    x = as_array(input)
    return x, check_axes(axes, x.ndim)
