"""The arguments of the extension module's Plan.run, below the package's options."""

import numpy as np
import pytest
from cubed import _core
from cubed.runtime.executors.dask import DaskExecutor


def test_default_executor():
    """No executor is the engine's default, also once executors of Python are known."""
    assert DaskExecutor().capabilities
    result = np.zeros(4)
    plan = _core.Plan(((_core.full("float64", (4,), None, 1.5), None),))
    assert plan.run((result.view(np.uint8),), None)["num_tasks"] == 1
    np.testing.assert_array_equal(result, 1.5)


def test_options_have_names():
    plan = _core.Plan(((_core.full("float64", (4,), None, 1.5), None),))
    with pytest.raises(TypeError):
        plan.run((), "threads", 2)
    with pytest.raises(TypeError, match="retry"):
        plan.run((), "threads", retry=2)
