"""Stores of other machines: which there are, and the options of theirs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from cubed import _core

#: Schemes that the engine reads and writes by itself.
SCHEMES = ("s3", "gs", "gcs", "az", "abfs", "abfss", "http", "https", "redis")

# In which fsspec puts options of the libraries that it calls.
_NESTED = ("client_kwargs", "config_kwargs")


def is_remote(store: Any) -> bool:
    """Whether it is spelled as a store of another machine that the engine knows."""
    if not isinstance(store, (str, os.PathLike)):
        return False
    scheme, sep, _ = os.fspath(store).partition("://")
    return bool(sep) and scheme.lower() in SCHEMES


def shown(place: Any) -> str:
    """What messages call a place: URLs without user, password and signature."""
    return _core.hide_secrets(repr(place))


def hidden(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of an engine as they are shown: configurations, which may hold keys, are left out."""
    secret = ("secret", "password", "token", "key", "credential")
    return {
        name: "..." if isinstance(v, Mapping) or any(s in name.lower() for s in secret) else v
        for name, v in options.items()
    }


def set_options(url: Any, options: Mapping[str, Any] | None) -> None:
    """Tells the engine the options of what lies at a URL and below it: these, and no others.

    Raises
    ------
    TypeError
        One is no text, number or truth value.
    """
    if is_remote(url):
        set_service_options(os.fspath(url), options)


def set_service_options(url: str, options: Mapping[str, Any] | None) -> None:
    """The same of a service that is no store, by a URL that stands for it."""
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
                f"storage option {name!r} is a {type(value).__name__}, expected a text, a number or"
                " a truth value"
            )


def _lines(prefixes: Any) -> str | None:
    """Where the documents at a URL may refer to, one place a line."""
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
