"""Endpoints over HTTP: workers of Cloud Run, Azure Container Apps, functions, and others."""

from __future__ import annotations

from typing import Any, ClassVar

from cubed.base._remote import set_service_options
from cubed.runtime.executors.base import Executor

_SOURCES = ("token_command", "token_file", "token_from")
_OPTIONS = (*_SOURCES, "audience")


class HttpExecutor(Executor):
    """Sends each range of tasks to an endpoint whose workers are ``cubed worker --http``.

    Parameters
    ----------
    url
        The endpoint, such as the URL of a service of Cloud Run. A URL with ``http://`` must refer
        to this machine, unless `token_from` is ``"none"``.
    max_workers
        Concurrent requests; default and maximum: 1,000.
    retries
        As for other executors.
    token_command
        Command whose output is the token that each request carries, such as
        ``"gcloud auth print-identity-token"``. It runs again before the token expires.
    token_file
        Path of a file with the token, which another program renews.
    token_from
        ``"google"`` or ``"azure"``: tokens for the identity of this machine are requested from its
        metadata server. ``"none"``: requests have no token.
    audience
        Audience of tokens requested by `token_from`; default: `url`.
    **kwargs
        As for other executors.
    """

    name = "http"
    _accepted: ClassVar[frozenset[str]] = Executor._accepted | {"url", *_OPTIONS}

    def __init__(
        self, max_workers: int | None = None, retries: int = 2, *, url: str = "", **kwargs: Any
    ) -> None:
        if not isinstance(url, str) or not url:
            raise TypeError(f"url is {url!r}, expected the URL of an endpoint")
        for option in _OPTIONS:
            value = kwargs.get(option)
            if value is not None and not isinstance(value, str):
                raise TypeError(f"{option} is a {type(value).__name__}, expected a string")
        super().__init__(max_workers, retries, url=url, **kwargs)

    def num_workers(self) -> int:
        """Returns the requested number of workers, or the maximum."""
        return self.max_workers or self.capabilities["max_workers"]

    @property
    def address(self) -> str:
        """``http:URL``."""
        return f"{self.name}:{self.kwargs['url']}"

    def connect(self) -> None:
        """Sets the source of tokens."""
        options = {k: v for k in _OPTIONS if (v := self.kwargs.get(k)) is not None}
        set_service_options(f"worker+{self.kwargs['url']}", options)
