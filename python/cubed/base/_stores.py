"""Converts store objects of other libraries to locations that the engine supports.

Stores of zarr-python, mappers of fsspec and stores of obstore become a path or URL with options, if
the engine supports such locations. Other objects are read through their library. This is slower,
because chunks are decoded with the GIL.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from cubed.base._remote import SCHEMES, set_options
from cubed.base._warnings import warn

#: S3 options that the engine supports, by their names in fsspec and obstore.
_OPTIONS = frozenset(
    "key secret token access_key_id secret_access_key session_token anon skip_signature region"
    " region_name endpoint_url endpoint virtual_hosted_style_request requester_pays ca_bundle proxy"
    " connect_timeout read_timeout conditional_put".split()
)
#: Options that do not affect the data that is read.
_IDLE = frozenset("asynchronous bucket loop allow_http use_listings_cache client_options".split())

Place = tuple[str, dict[str, Any]]


def place_of(store: Any) -> Place | None:
    """Returns the path or URL of a store object of another library, and its options.

    None if the engine has no such store, or if the object has options that the engine does not
    support.
    """
    name = f"{type(store).__module__}.{type(store).__name__}"
    if name.startswith("zarr."):
        return _of_zarr(store)
    if name.startswith("fsspec.mapping"):
        return _of_filesystem(store.fs, store.root)
    if name.startswith("obstore."):
        return _of_obstore(store)
    return None


def split_place(store: Any, path: str | None) -> tuple[Any, str | None]:
    """Splits the location of an array into its store and its whole path in the store.

    ``zip://PATH::ARCHIVE`` is fsspec's spelling of an archive that the engine reads; longer chains
    are left to fsspec. An Icechunk session is replaced by its store.
    """
    if not isinstance(store, str):
        kind = f"{type(store).__module__.partition('.')[0]}.{type(store).__name__}"
        if kind in ("zarr.StorePath", "zarr.Group"):
            return store.store, "/".join(p for p in (store.path, path) if p) or None
        if kind in ("icechunk.Session", "icechunk.ForkSession"):
            return store.store, path
        return store, path
    if not store.startswith(("zip://", "zip::")):
        return store, path
    inner, sep, archive = store[3:].removeprefix("://").partition("::")
    if not sep:
        return inner, path
    scheme, remote, _ = archive.partition("://")
    if "::" in archive or (remote and scheme not in (*SCHEMES, "file")):
        return store, path
    return archive, "/".join(p for p in (inner.strip("/"), path) if p) or None


def in_memory(store: Any) -> str | None:
    """Returns a URL for a store of another library whose chunks are in this process's memory. The
    same store always gets the same URL. None for other stores.

    ``memory://`` is fsspec's file system, which all users in the process share, as in zarr-python.
    """
    while (inner := getattr(store, "store", None)) is not None:  # zarr wraps obstore
        store = inner
    if isinstance(store, dict):
        return f"memory://{id(store):x}"
    if type(store).__name__ in ("MemoryStore", "GpuMemoryStore"):
        return f"memory://{id(getattr(store, '_store_dict', store)):x}"
    if isinstance(store, str):
        scheme, _, root = store.partition("://")
        return f"memory://{root.strip('/')}" if scheme == "memory" else None
    fs: Any = getattr(store, "fs", None)
    while type(fs).__name__ == "AsyncFileSystemWrapper":
        fs = fs.sync_fs
    if type(fs).__name__ != "MemoryFileSystem":
        return None
    root = store.path if hasattr(store, "path") else store.root
    return f"memory://{root.strip('/')}"


def for_zarr(store: Any, path: str | None) -> tuple[Any, str | None]:
    """Returns the object and the path as the package zarr expects them."""
    kind = f"{type(store).__module__}.{type(store).__name__}"
    if kind.startswith("obstore."):
        import zarr

        return zarr.storage.ObjectStore(store), path
    if kind.startswith("fsspec.mapping") and path:
        return store.fs.get_mapper(f"{store.root.rstrip('/')}/{path}"), None
    return store, path


def url_of(store: Any) -> str | None:
    """Like :func:`place_of`, but returns a URL or path, and sets its options in the engine."""
    found = place_of(store)
    if found is None:
        return None
    url, options = found
    if "://" in url:
        set_options(url, options)
        return url
    return root_url(url)


def note_slow(store: Any) -> None:
    """Warns that a store is read by its own library, once for each line of a program."""
    kind = f"{type(store).__module__.split('.')[0]}.{type(store).__name__}"
    native = (
        f"paths, URLs of {', '.join(f'{s}://' for s in SCHEMES)}, and objects with such a location"
    )
    if kind == "icechunk.IcechunkStore":
        native = (
            "repositories by their path or URL:"
            f" 'PATH@snapshot.{store.session.snapshot_id}' is this session's first snapshot"
        )
    warn(
        f"the engine does not support this {kind}. It is read by the package zarr, which is slower"
        f" and holds the GIL. The engine reads {native}"
    )


def root_url(root: str) -> str:
    """Returns a directory unchanged, or as a URL if "::" in its path would otherwise end the name
    of the store."""
    if "::" not in root:
        return root
    from urllib.parse import quote  # lazy: slow import

    return f"file://{quote(root)}"


def _of_zarr(x: Any) -> Place | None:
    store, kind = x, type(x).__name__
    if kind in ("StorePath", "Group") and x.path:
        return None  # a place within a store: see split_place
    if kind != "ObjectStore":
        # In zarr-python 2 this store holds the metadata of a whole store in memory. The chunks are
        # in another store.
        store = getattr(x, "chunk_store", None) or getattr(x, "store", x)
        kind = type(store).__name__
    if kind in ("DirectoryStore", "NestedDirectoryStore"):  # of version 2
        return os.fspath(store.path), {}
    if kind == "LocalStore":
        return os.fspath(store.root), {}
    if kind == "ZipStore":
        return (os.fspath(store.path), {}) if getattr(store, "read_only", False) else None
    if kind == "FsspecStore":
        return _of_filesystem(store.fs, store.path)
    if kind == "ObjectStore":
        return _of_obstore(store.store)
    return None


def _of_filesystem(fs: Any, root: str) -> Place | None:
    while type(fs).__name__ == "AsyncFileSystemWrapper":
        fs = fs.sync_fs
    protocols = (fs.protocol,) if isinstance(fs.protocol, str) else tuple(fs.protocol)
    if "file" in protocols and type(fs).__name__ == "LocalFileSystem":
        return root, {}
    options = _known(getattr(fs, "storage_options", {}))
    scheme = next((p for p in protocols if p in SCHEMES), None)
    if scheme is None or options is None or (options and scheme != "s3"):
        return None
    return (root if "://" in root else f"{scheme}://{root.lstrip('/')}"), options


def _of_obstore(store: Any) -> Place | None:
    kind = type(store).__name__
    if kind == "LocalStore":
        return (os.fspath(store.prefix), {}) if store.prefix else None
    if kind == "HTTPStore":
        return (store.url, {}) if not getattr(store, "client_options", None) else None
    if kind != "S3Store" or store.credential_provider is not None:
        return None
    options = _known(store.config)
    if options is None or _known(store.client_options or {}) is None:
        return None
    bucket, prefix = store.config.get("bucket"), (store.prefix or "").strip("/")
    return (f"s3://{bucket}/{prefix}".rstrip("/"), options) if bucket else None


def _known(options: Mapping[str, Any]) -> dict[str, Any] | None:
    """Returns the options that the engine supports. None if there are other options, which may
    change the data that is read.
    """
    found: dict[str, Any] = {}
    for name, value in options.items():
        if name in ("client_kwargs", "config_kwargs") and isinstance(value, Mapping):
            nested = _known(value)
            if nested is None:
                return None
            found.update(nested)
        elif name in _OPTIONS and (value is None or isinstance(value, (str, bool, int, float))):
            found[name] = value
        elif name not in _IDLE:
            return None
    return found
