"""A picture of the memory of every task, against what was projected and what is allowed."""

from cubed.diagnostics.timeline import TimelineVisualizationCallback


class MemoryVisualizationCallback(TimelineVisualizationCallback):
    """Draws measured memory of tasks as bars, projected and allowed memory as lines.

    Parameters
    ----------
    format
        ``"svg"`` (default), ``"png"`` or ``"pdf"``; the last two need CairoSVG.
    path
        The file; default: ``directory/COMPUTE_ID/memory.FORMAT``.
    directory
        Where directories of computations go.
    """

    chart = "memory"
