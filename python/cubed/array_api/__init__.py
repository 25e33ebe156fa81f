"""The Python Array API standard, version 2025.12.

Functions have the standard's names and parameters. Functions that create arrays also take `chunks`
and `spec`. The module also has NumPy functions that are not in the standard, for programs that
look them up in an array's namespace.
"""

from typing import TYPE_CHECKING

from cubed.base._loading import exports

if TYPE_CHECKING:  # for type checkers; at run time, a name is loaded when it is first used
    from cubed.array_api import fft as fft
    from cubed.array_api import lib as lib
    from cubed.array_api import linalg as linalg
    from cubed.array_api.array_object import Array as Array
    from cubed.array_api.binning_functions import *  # noqa: F403
    from cubed.array_api.bit_functions import *  # noqa: F403
    from cubed.array_api.block_functions import *  # noqa: F403
    from cubed.array_api.calendar_functions import *  # noqa: F403
    from cubed.array_api.choosing_functions import *  # noqa: F403
    from cubed.array_api.composed_functions import *  # noqa: F403
    from cubed.array_api.constants import *  # noqa: F403
    from cubed.array_api.creation_functions import *  # noqa: F403
    from cubed.array_api.data_type_functions import *  # noqa: F403
    from cubed.array_api.dtypes import *  # noqa: F403
    from cubed.array_api.elementwise_functions import *  # noqa: F403
    from cubed.array_api.grid_functions import *  # noqa: F403
    from cubed.array_api.indexing_functions import *  # noqa: F403
    from cubed.array_api.inspection import __array_namespace_info__ as __array_namespace_info__
    from cubed.array_api.joining_functions import *  # noqa: F403
    from cubed.array_api.linear_algebra_functions import *  # noqa: F403
    from cubed.array_api.manipulation_functions import *  # noqa: F403
    from cubed.array_api.missing_functions import *  # noqa: F403
    from cubed.array_api.numpy_functions import *  # noqa: F403
    from cubed.array_api.searching_functions import *  # noqa: F403
    from cubed.array_api.set_functions import *  # noqa: F403
    from cubed.array_api.signal_functions import *  # noqa: F403
    from cubed.array_api.sorting_functions import *  # noqa: F403
    from cubed.array_api.statistical_functions import *  # noqa: F403
    from cubed.array_api.ufunc_functions import *  # noqa: F403
    from cubed.array_api.utility_functions import *  # noqa: F403
    from cubed.array_api.writing_functions import *  # noqa: F403

__array_api_version__ = "2025.12"

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = exports(__name__, hidden=("Array",))
    __all__ += ["__array_api_version__"]
