"""Import paths of arrays and of functions that compute them."""

from cubed.array._array import Array as Array
from cubed.blocks._measure import measure_reserved_mem as measure_reserved_mem
from cubed.planning._compute import compute as compute
from cubed.planning._compute import plan as plan
from cubed.planning._compute import visualize as visualize

CoreArray = Array
