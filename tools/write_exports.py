"""Writes the table of names that packages load when they are first used, from their sources.

A package that calls `exports` of base/_loading.py imports its names in a block "if TYPE_CHECKING",
which only type checkers run. The table has, for each of these names, the module that defines it.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import NoReturn

HEADER = '''\
"""Names of packages that load them when they are first used: written by tools/generate.

The sources are the blocks ``if TYPE_CHECKING`` of the packages, see ``_loading.py``.
"""
'''

#: Modules that need packages that may be missing: programs import them by name.
OPTIONAL = {"icechunk", "plot", "xarray"}

LOADER = "cubed.base._loading"


def fail(what: str) -> NoReturn:
    raise SystemExit(f"tools/generate: {what}")


class Package:
    """The sources of python/cubed, as trees. `made` replaces files that are about to be written."""

    def __init__(self, folder: Path, made: dict[Path, str]) -> None:
        self.files: dict[str, Path] = {}
        for path in sorted({*folder.rglob("*.py"), *(p for p in made if folder in p.parents)}):
            parts = ("cubed", *path.relative_to(folder).with_suffix("").parts)
            if path.suffix == ".py":
                self.files[".".join(parts).removesuffix(".__init__")] = path
        self.made = made
        self.trees: dict[str, ast.Module] = {}

    def text(self, module: str) -> str:
        path = self.files[module]
        return self.made.get(path) or path.read_text()

    def tree(self, module: str) -> ast.Module:
        if module not in self.trees:
            self.trees[module] = ast.parse(self.text(module))
        return self.trees[module]

    def listed(self, module: str) -> list[str]:
        """`__all__` of a module, without running it."""
        found: list[str] = []
        for node in ast.walk(self.tree(module)):
            if isinstance(node, ast.AugAssign):
                target, value = node.target, node.value
            elif isinstance(node, ast.Assign):
                target, value = node.targets[0], node.value
            else:
                continue
            if ast.unparse(target) == "__all__":
                found += self.values(module, value)
        if not found:
            fail(f"{module} has no __all__ that can be read without running it")
        return found

    def values(self, module: str, value: ast.expr) -> list[str]:
        if not isinstance(value, ast.List):
            fail(f"{module}: __all__ is {ast.unparse(value)}, expected a list")
        found: list[str] = []
        for item in value.elts:
            text = ast.unparse(item)
            if isinstance(item, ast.Constant):
                found.append(item.value)
            elif isinstance(item, ast.Starred) and text.endswith(".__all__"):
                alias = text.removeprefix("*").removesuffix(".__all__")
                found += self.listed(self.module_of(module, alias))
            else:
                fail(f"{module}: __all__ has {text}, expected a name or *MODULE.__all__")
        return found

    def module_of(self, module: str, alias: str) -> str:
        for node in self.tree(module).body:
            if isinstance(node, ast.ImportFrom):
                for name in node.names:
                    if alias == (name.asname or name.name):
                        return f"{node.module}.{name.name}"
        fail(f"{module} does not import {alias}")

    def home(self, module: str, name: str) -> str:
        """The module that defines a name of `module`, which may only import it."""
        for node in self.tree(module).body:
            if not isinstance(node, ast.ImportFrom) or node.module not in self.files:
                continue
            for alias in node.names:
                if alias.name == name and alias.asname in (None, name):
                    return self.home(node.module, name)
                if alias.name == "*" and name in self.listed(node.module):
                    return self.home(node.module, name)
        return module


def block(tree: ast.Module) -> list[ast.ImportFrom]:
    """Imports that only type checkers run."""
    return [
        node
        for part in tree.body
        if isinstance(part, ast.If) and ast.unparse(part.test) == "TYPE_CHECKING"
        for node in part.body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("cubed")
    ]


def hidden_of(tree: ast.Module) -> list[str]:
    """Names that a package passes to `exports` as hidden."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "exports":
            return [
                n for k in node.keywords if k.arg == "hidden" for n in ast.literal_eval(k.value)
            ]
    return []


class Exports:
    """Names, modules and other submodules of the packages that load them when they are used."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self.lazy = [m for m in package.files if f"from {LOADER} import" in package.text(m)]
        self.names: dict[str, dict[str, str]] = {}
        self.modules: dict[str, dict[str, str]] = {}
        for name in sorted(self.lazy, key=len, reverse=True):  # a package's parts before it
            self.collect(name)

    def collect(self, name: str) -> None:
        names: dict[str, str] = {}
        modules: dict[str, str] = {}
        for node in block(self.package.tree(name)):
            assert node.module
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                if alias.asname not in (None, alias.name):
                    fail(f"{name}: {alias.name} is imported as {alias.asname}, expected its name")
                if alias.name == "*" and node.module in self.lazy:
                    hidden = hidden_of(self.package.tree(node.module))
                    names |= {n: m for n, m in self.names[node.module].items() if n not in hidden}
                    modules |= {
                        n: m for n, m in self.modules[node.module].items() if n not in hidden
                    }
                elif alias.name == "*":
                    listed = self.package.listed(node.module)
                    names |= {n: self.package.home(node.module, n) for n in listed}
                elif whole in self.package.files:
                    modules[alias.name] = whole
                else:
                    names[alias.name] = self.package.home(node.module, alias.name)
        for found in names:
            if f"{name}.{found}" in self.package.files:  # its import would replace the name
                fail(f"{name} has a module and a name {found}")
        self.names[name], self.modules[name] = names, modules

    def others(self, name: str) -> list[str]:
        """Public submodules that the package does not import."""
        found = [m.rpartition(".")[2] for m in self.package.files if m.rpartition(".")[0] == name]
        known = {*self.modules[name], *OPTIONAL}
        return [n for n in found if not n.startswith("_") and n not in known]


def table(name: str, kind: str, comment: str, rows: dict[str, str]) -> str:
    lines = [f"#: {comment}", f"{name}: {kind} = {{", *(f"    {k}: {v}," for k, v in rows.items())]
    return "\n".join([*lines, "}"])


def literal(values: dict[str, str]) -> str:
    rows = "".join(f'        "{k}": "{v}",\n' for k, v in sorted(values.items()))
    return f"{{\n{rows}    }}" if rows else "{}"


def listed(values: list[str]) -> str:
    rows = "".join(f'        "{v}",\n' for v in values)
    return f"[\n{rows}    ]" if rows else "[]"


def module(folder: Path, made: dict[Path, str]) -> str:
    found = Exports(Package(folder, made))
    of_each = {name: f'"{name}"' for name in sorted(found.lazy)}
    parts = [
        table(
            "NAMES",
            "dict[str, dict[str, str]]",
            "By package: the module that defines each of its names.",
            {key: literal(found.names[name]) for name, key in of_each.items()},
        ),
        table(
            "MODULES",
            "dict[str, dict[str, str]]",
            "By package: names that are modules.",
            {key: literal(found.modules[name]) for name, key in of_each.items()},
        ),
        table(
            "SUBMODULES",
            "dict[str, list[str]]",
            "By package: its other public modules. They are also attributes, but `*` skips them.",
            {key: listed(found.others(name)) for name, key in of_each.items()},
        ),
    ]
    return "\n".join([HEADER, "\n\n".join(parts)]) + "\n"
