"""Reads the symbols of a build's object files, and finds circles of files that need each other."""

import subprocess


def symbols_of(build):
    """Returns for each file of src/ the symbols that it needs, and a dict of the symbols that it
    defines, with True for data."""
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
    """Returns strongly connected components of more than one node (Tarjan)."""
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
