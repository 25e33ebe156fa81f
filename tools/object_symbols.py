"""Symbols of the objects of a build, and circles of what needs each other."""

import subprocess


def symbols_of(build):
    """For each object of a file of src/: symbols that it needs, and its symbols, True for data."""
    objects = sorted((build / "CMakeFiles").rglob("*.c.o"))
    found = {}
    listed = subprocess.run(
        ["nm", "-A", "-g", *objects], capture_output=True, text=True, check=True
    )
    for line in listed.stdout.splitlines():
        place, _, rest = line.rpartition(".c.o:")
        source = place.rpartition(".dir/")[2] + ".c"
        kind, name = rest.split()[-2:]
        if source.startswith("src/"):
            needed, defined = found.setdefault(source, (set(), {}))
            if kind == "U":
                needed.add(name)
            else:
                defined[name] = kind in "BDGRSV"
    return found


def circles(edges):
    """Strongly connected components of more than one node (Tarjan)."""
    index, low, stack, out = {}, {}, [], []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in sorted(edges[v]):
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in stack:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            at = stack.index(v)
            if len(stack) - at > 1:
                out.append(sorted(stack[at:]))
            del stack[at:]

    for v in sorted(edges):
        if v not in index:
            visit(v)
    return out
