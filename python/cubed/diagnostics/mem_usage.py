"""A chart of the memory of every task, compared with the projected and allowed memory."""

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
        The parent of the directories of computations.
    """

    chart = "memory"
