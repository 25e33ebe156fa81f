"""Computations whose tasks are observed: no task may use more memory than was projected for it."""

import cubed


class Watch(cubed.Callback):
    """Keeps what is told at the ends of tasks."""

    def __init__(self):
        self.ends = []

    def on_task_end(self, event):
        self.ends.append(event)

    def check(self, allowed_mem, *arrays):
        """There were tasks, if there are elements; none took more than projected, and allowed."""
        assert self.ends or not any(a.size for a in arrays)
        for e in self.ends:
            assert e.peak_measured_mem_end <= e.projected_mem <= allowed_mem


def computed(*arrays, **options):
    """The values, of several arrays all, within the memory that was projected and is allowed."""
    watch = Watch()
    if len(arrays) == 1:
        values = arrays[0].compute(callbacks=[watch], **options)
    else:
        values = cubed.compute(*arrays, callbacks=[watch], **options)
    watch.check(arrays[0].spec.allowed_mem, *arrays)
    return values
