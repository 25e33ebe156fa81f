"""Writes the page of the public names of the Python package, with signatures and docstrings."""

import importlib
import inspect
import re
import types
import typing

MODULES = (
    "cubed",
    "cubed.random",
    "cubed.stats",
    "cubed.ma",
    "cubed.ndimage",
    "cubed.remapping",
    "cubed.plot",
    "cubed.diagnostics",
    "cubed.diagnostics.estimate",
    "cubed.diagnostics.widgets",
    "cubed.icechunk",
    "cubed.exceptions",
    "cubed.typing",
    "cubed.array_api",
    "cubed.array_api.linalg",
    "cubed.array_api.fft",
    "cubed.array_api.lib.stride_tricks",
    "cubed.core",
    "cubed.core.ops",
    "cubed.core.groupby",
    "cubed.core.optimization",
    "cubed.core.indexing",
    "cubed.backend_array_api",
    "cubed.runtime.pipeline",
    "cubed.vendor.dask.array.core",
    "cubed.vendor.dask.array.utils",
)


def public_names(module):
    """Returns the names in `__all__` of a module, or all names that it defines; without modules."""
    listed = getattr(module, "__all__", None)
    names = listed or [
        n for n, x in vars(module).items() if getattr(x, "__module__", "") == module.__name__
    ]
    return sorted(
        n
        for n in names
        if not n.startswith("_") and not isinstance(getattr(module, n), types.ModuleType)
    )


def signature(x):
    try:
        # Annotations are strings: remove their quotes.
        return re.sub(r"(: |-> |\*)'([^']*)'", r"\1\2", str(inspect.signature(x)))
    except (TypeError, ValueError):  # extension types and ufuncs have no signature
        return "(...)" if callable(x) else ""


def markdown(doc):
    """Converts a NumPy-style docstring to Markdown: sections to paragraphs, parameters to lists."""
    text = inspect.cleandoc(doc)
    text = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", text)
    text = text.replace("``", "`")
    text = re.sub(r"^(\w[\w ]*)\n-{3,}$", r"\n**\1**\n", text, flags=re.MULTILINE)
    entry = re.compile(r"^(\S.*)\n((?: {4}.*\n?)+)", re.MULTILINE)
    parts = re.split(r"^(>>> .*(?:\n.+)*)", text, flags=re.MULTILINE)  # odd indices: examples
    parts[::2] = [entry.sub(r"- `\1`: \2", part) for part in parts[::2]]
    parts[1::2] = [f"```pycon\n{part}\n```" for part in parts[1::2]]
    return "".join(parts)


def members(cls):
    """Yields list items for the documented public methods and properties of a class."""
    for name, x in sorted(vars(cls).items()):
        x = x.__func__ if isinstance(x, (classmethod, staticmethod)) else x
        doc = inspect.getdoc(x)
        if name.startswith("_") or not doc or not (callable(x) or isinstance(x, property)):
            continue
        call = "" if isinstance(x, property) else signature(x)
        yield f"- `{name}{call}`: {markdown(doc).splitlines()[0]}"


def describe(name, x):
    if typing.get_origin(x) is not None or not (callable(x) or inspect.isclass(x)):
        value = repr(x)
        shown = len(value) < 200 and " at 0x" not in value  # addresses differ between builds
        return [f"### {name}\n", f"`{value}`\n" if shown else f"A `{type(x).__qualname__}`.\n"]
    parts = [f"### {name}\n", f"```\n{name}{signature(x)}\n```\n", markdown(x.__doc__ or "")]
    if inspect.isclass(x) and x.__module__.startswith("cubed"):
        parts += ["", *members(x)]
    return parts


def homes(modules):
    """Maps each name to the module that documents it. The package itself is the last choice."""
    found = {}
    for path in sorted(modules, key=lambda path: path == "cubed"):
        for name in public_names(modules[path]):
            found.setdefault((name, id(getattr(modules[path], name))), path)
    return found


def page():
    modules = {path: importlib.import_module(path) for path in MODULES}
    home = homes(modules)
    parts = [
        "# Names of the Python package\n",
        "All public names, by module. [The Python package](python.md) is an overview.\n",
    ]
    for path, module in modules.items():
        parts.append(f"## {path}\n\n{markdown(module.__doc__ or '')}\n")
        others = {}
        for name in public_names(module):
            x = getattr(module, name)
            where = home[name, id(x)]
            if where == path:
                parts += [*describe(f"{path}.{name}", x), ""]
            else:
                others.setdefault(where, []).append(f"`{name}`")
        for where, names in others.items():
            parts.append(f"From `{where}`: {', '.join(names)}.\n")
    return "\n".join(parts)
