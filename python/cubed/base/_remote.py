"""Stores on other machines: their schemes and options."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from cubed import _core

#: Schemes that the engine itself reads and writes.
SCHEMES = ("s3", "gs", "gcs", "az", "abfs", "abfss", "http", "https", "redis")

# Options of fsspec that hold options of the libraries that it calls.
_NESTED = ("client_kwargs", "config_kwargs")


def is_remote(store: Any) -> bool:
    """Returns True for URLs of stores on other machines that the engine supports."""
    if not isinstance(store, (str, os.PathLike)):
        return False
    scheme, sep, _ = os.fspath(store).partition("://")
    return bool(sep) and scheme.lower() in SCHEMES


def shown(place: Any) -> str:
    """Returns a place for messages: URLs without user, password and signature."""
    return _core.hide_secrets(repr(place))


#: Parts of names of options whose values are secrets.
_SECRET = ("secret", "password", "token", "key", "credential", "connection_string")


def _is_secret(name: str) -> bool:
    return any(part in name.lower() for part in _SECRET)


def hidden(options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns options of an engine for display, without configurations and secrets."""
    return {
        name: "..." if isinstance(v, Mapping) or _is_secret(name) else v
        for name, v in options.items()
    }


def secret_names(options: Mapping[str, Any] | None) -> list[str]:
    """Returns the names of the given options whose values are secrets, including nested options."""
    found = []
    for name, value in (options or {}).items():
        if isinstance(value, Mapping):
            found += secret_names(value)
        elif value and _is_secret(name):
            found.append(repr(name))
    return sorted(set(found))


def secret_options() -> list[str]:
    """Returns the names of options of stores whose values are secrets, as ``'NAME' of URL``."""
    from urllib.parse import unquote  # lazy: slow import

    found = []
    for line in _core.storage_options().splitlines():
        scope, name, value = map(unquote, line.split(" "))
        if value and _is_secret(name):
            found.append(f"{name!r} of {_core.hide_secrets(scope)}")
    return sorted(set(found))


def set_options(url: Any, options: Mapping[str, Any] | None) -> None:
    """Sets the engine's options for a URL and everything below it, replacing earlier ones.

    Raises
    ------
    TypeError
        If an option is not a string, number or truth value.
    """
    if is_remote(url):
        set_service_options(os.fspath(url), options)


def set_service_options(url: str, options: Mapping[str, Any] | None) -> None:
    """Like :func:`set_options`, for a service that is not a store. `url` identifies the service."""
    _core.storage_option(url, None, None)
    for name, value in _flat(options or {}):
        _core.storage_option(url, name, value)


def _flat(options: Mapping[str, Any]) -> Iterator[tuple[str, str | None]]:
    for name, value in options.items():
        if name in _NESTED and isinstance(value, Mapping):
            yield from _flat(value)
        elif name == "allow_references":
            yield name, _lines(value)
        elif value is None or isinstance(value, str):
            yield name, value
        elif isinstance(value, (bool, int, float)):
            yield name, str(value).lower()
        else:  # the value may be a secret
            raise TypeError(
                f"storage option {name!r} is a {type(value).__name__}, expected a string, a number"
                " or a bool"
            )


def _lines(prefixes: Any) -> str | None:
    """Formats the locations that documents at a URL may refer to, one per line."""
    if prefixes is None:
        return None
    given = [prefixes] if isinstance(prefixes, (str, os.PathLike)) else prefixes
    listed = list(given) if isinstance(given, (list, tuple, set, frozenset)) else [None]
    texts = [os.fspath(p) for p in listed if isinstance(p, (str, os.PathLike))]
    if len(texts) < len(listed) or any("\n" in p or not p for p in texts):
        raise TypeError(
            f"storage option 'allow_references' is {prefixes!r}, expected a list of paths and URLs"
        )
    return "\n".join(texts)
