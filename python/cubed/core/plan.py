"""Import paths of plans."""

from cubed.planning import _compute
from cubed.planning._totals import ArrayRole as ArrayRole
from cubed.runtime import types

FinalizedPlan = _compute.Plan
ComputeStartEventWithPlan = types.ComputeStartEvent
