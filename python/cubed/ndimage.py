"""Filters, interpolation, objects and measurements of images as in :mod:`scipy.ndimage`.

Filters, interpolation and measurements run in C; ``cubed.images`` implements the other functions
in Python.
"""

from cubed.functions.interpolation import (
    affine_transform,
    map_coordinates,
    rotate,
    shift,
    spline_filter,
    spline_filter1d,
    zoom,
)
from cubed.functions.measurements import (
    center_of_mass,
    extrema,
    maximum_position,
    minimum_position,
    sum_labels,
)
from cubed.functions.measurements import histogram_labels as histogram
from cubed.functions.measurements import maximum_labels as maximum
from cubed.functions.measurements import mean_labels as mean
from cubed.functions.measurements import median_labels as median
from cubed.functions.measurements import minimum_labels as minimum
from cubed.functions.measurements import standard_deviation_labels as standard_deviation
from cubed.functions.measurements import sum_labels as sum
from cubed.functions.measurements import variance_labels as variance
from cubed.functions.morphology import (
    binary_closing,
    binary_dilation,
    binary_erosion,
    binary_hit_or_miss,
    binary_opening,
    black_tophat,
    grey_closing,
    grey_dilation,
    grey_erosion,
    grey_opening,
    morphological_gradient,
    morphological_laplace,
    white_tophat,
)
from cubed.functions.ndimage import (
    convolve1d,
    correlate1d,
    gaussian_filter,
    gaussian_filter1d,
    gaussian_gradient_magnitude,
    gaussian_laplace,
    laplace,
    maximum_filter,
    maximum_filter1d,
    median_filter,
    minimum_filter,
    minimum_filter1d,
    percentile_filter,
    prewitt,
    rank_filter,
    sobel,
    uniform_filter,
    uniform_filter1d,
)
from cubed.images._generic import (
    generic_filter,
    generic_filter1d,
    generic_gradient_magnitude,
    generic_laplace,
    geometric_transform,
)
from cubed.images._measurements import labeled_comprehension, value_indices
from cubed.images._objects import find_objects, label
from cubed.images._pyramid import pyramid
from cubed.images._structures import generate_binary_structure, iterate_structure
from cubed.images._weights import convolve, correlate

__all__ = [
    "affine_transform",
    "binary_closing",
    "binary_dilation",
    "binary_erosion",
    "binary_hit_or_miss",
    "binary_opening",
    "black_tophat",
    "center_of_mass",
    "convolve",
    "convolve1d",
    "correlate",
    "correlate1d",
    "extrema",
    "find_objects",
    "gaussian_filter",
    "gaussian_filter1d",
    "gaussian_gradient_magnitude",
    "generic_filter",
    "generic_filter1d",
    "generic_gradient_magnitude",
    "generic_laplace",
    "geometric_transform",
    "gaussian_laplace",
    "generate_binary_structure",
    "grey_closing",
    "grey_dilation",
    "grey_erosion",
    "grey_opening",
    "iterate_structure",
    "histogram",
    "label",
    "labeled_comprehension",
    "laplace",
    "map_coordinates",
    "maximum",
    "maximum_filter",
    "maximum_filter1d",
    "maximum_position",
    "mean",
    "median",
    "median_filter",
    "minimum",
    "minimum_filter",
    "minimum_filter1d",
    "minimum_position",
    "morphological_gradient",
    "morphological_laplace",
    "percentile_filter",
    "prewitt",
    "pyramid",
    "rank_filter",
    "rotate",
    "shift",
    "sobel",
    "spline_filter",
    "spline_filter1d",
    "standard_deviation",
    "sum",
    "sum_labels",
    "uniform_filter",
    "uniform_filter1d",
    "value_indices",
    "variance",
    "white_tophat",
    "zoom",
]
