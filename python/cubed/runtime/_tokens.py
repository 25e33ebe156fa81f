"""Tokens of OpenID Connect (JSON Web Tokens, RFC 7519) in requests, and the keys that sign them."""

from __future__ import annotations

import base64
import binascii
import ipaddress
import json
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

#: Seconds by which clocks may differ.
_LEEWAY = 60
#: Seconds after which keys of a URL are read again, and minimum seconds between reads because of
#: unknown keys.
_LIFE, _PAUSE = 3600, 60
#: Maximum bytes of a document, and seconds to wait for it.
_MOST_DOCUMENT, _TIMEOUT = 1 << 20, 10
_MOST_TOKEN = 16 << 10
_LEAST_BITS = 2048
#: Fields of a token that name the caller.
_SUBJECTS = ("sub", "email", "azp", "appid")


class TokenError(Exception):
    """Raised if a request has no token, or a token that is not accepted."""


class Verifier:
    """Checks tokens: signature, issuer, audience, times and subject.

    Parameters
    ----------
    issuer, audience
        The claims ``iss`` and ``aud`` that are accepted.
    jwks
        Path or URL of the keys; default: the URL in the issuer's configuration.
    subjects
        Callers that are accepted, by one of the claims ``sub``, ``email`` (if verified), ``azp``
        and ``appid``; empty: all.

    Raises
    ------
    OSError
        If the keys cannot be read.
    ValueError
        If there are no keys for RS256, or their URL has no TLS.
    """

    def __init__(
        self,
        issuer: str,
        audience: str,
        jwks: str | None = None,
        subjects: Collection[str] = (),
        now: Callable[[], float] = time.time,
    ) -> None:
        self._issuer, self._audience, self._subjects = issuer, audience, frozenset(subjects)
        self._now = now
        self._jwks = jwks or _keys_of(issuer)
        self._lock = threading.Lock()
        self._read_at = self._asked_at = now()
        self._keys = self._read()

    def check(self, header: str | None) -> Mapping[str, Any]:
        """Returns the claims of the token in a header "Authorization"; TokenError if refused."""
        kind, _, token = (header or "").partition(" ")
        if kind.lower() != "bearer" or not token.strip():
            raise TokenError("the request has no bearer token")
        try:
            return self._check(token.strip())
        except (ValueError, TypeError, RecursionError) as e:  # the error does not contain the token
            raise TokenError("the token is malformed") from e

    def _check(self, token: str) -> Mapping[str, Any]:
        if len(token) > _MOST_TOKEN:
            raise TokenError(f"the token has more than {_MOST_TOKEN} characters")
        head, claims, signature = token.split(".")
        header = _object(_decode(head))
        if header.get("alg") != "RS256" or "crit" in header:
            raise TokenError("the token is not signed with RS256")
        key = self._key(header.get("kid"))
        if not _is_signed(key, _decode(signature), f"{head}.{claims}".encode()):
            raise TokenError("the signature of the token is wrong")
        found = _object(_decode(claims))
        self._check_claims(found)
        return found

    def _check_claims(self, claims: Mapping[str, Any]) -> None:
        audiences = claims.get("aud")
        audiences = audiences if isinstance(audiences, list) else [audiences]
        now = self._now()
        if claims.get("iss") != self._issuer:
            raise TokenError("the token is of another issuer")
        if self._audience not in audiences:
            raise TokenError("the token is for another audience")
        if not isinstance(claims.get("exp"), (int, float)) or isinstance(claims["exp"], bool):
            raise TokenError("the token has no expiry")
        if claims["exp"] + _LEEWAY <= now:
            raise TokenError("the token has expired")
        begin = claims.get("nbf", 0)
        if not isinstance(begin, (int, float)) or begin - _LEEWAY > now:
            raise TokenError("the token is not valid yet")
        if self._subjects and not self._subjects.intersection(_names(claims)):
            raise TokenError("the caller is not among those that may call")

    def _key(self, name: Any) -> Any:
        """Returns the key with a name. Keys of a URL are read again if the name is unknown."""
        with self._lock:
            now = self._now()
            old = now - self._read_at > _LIFE
            if (old or name not in self._keys) and now - self._asked_at > _PAUSE:
                self._asked_at = now
                try:
                    self._keys = self._read()
                    self._read_at = now
                except (OSError, ValueError) as e:
                    if name not in self._keys:
                        raise TokenError(f"the keys cannot be read: {e}") from e
            if name not in self._keys:
                raise TokenError("the token is signed by an unknown key")
            return self._keys[name]

    def _read(self) -> dict[Any, Any]:
        keys = {}
        for key in _object(_document(self._jwks)).get("keys", []):
            if key.get("kty") == "RSA" and key.get("use", "sig") == "sig":
                keys[key.get("kid")] = _public_key(key)
        if not keys:
            raise ValueError(f"{self._jwks}: there is no key of type RSA")
        return keys


def _names(claims: Mapping[str, Any]) -> list[str]:
    names = [n for n in _SUBJECTS if n != "email" or claims.get("email_verified") is True]
    return [claims[n] for n in names if isinstance(claims.get(n), str)]


def _keys_of(issuer: str) -> str:
    url = f"{issuer.rstrip('/')}/.well-known/openid-configuration"
    found = _object(_document(url)).get("jwks_uri")
    if not isinstance(found, str):
        raise ValueError(f"{url}: there is no jwks_uri")
    return found


def _document(place: str) -> bytes:
    """Reads a file or URL; ValueError for a URL of another machine without TLS."""
    if "://" not in place:
        return Path(place).read_bytes()
    url = urllib.parse.urlsplit(place)
    if url.scheme != "https" and not (url.scheme == "http" and is_loopback(url.hostname or "")):
        raise ValueError(f"{place}: expected https://, or http:// of this machine, or a file")
    with urllib.request.urlopen(place, timeout=_TIMEOUT) as reply:
        data: bytes = reply.read(_MOST_DOCUMENT + 1)
    if len(data) > _MOST_DOCUMENT:
        raise ValueError(f"{place}: the document has more than {_MOST_DOCUMENT} bytes")
    return data


def is_loopback(host: str) -> bool:
    """Returns True for loopback addresses."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _object(data: bytes) -> dict[str, Any]:
    found = json.loads(data)
    if not isinstance(found, dict):
        raise ValueError("expected a JSON object")
    return found


def _decode(text: str) -> bytes:
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except binascii.Error as e:
        raise ValueError("expected base64 for URLs") from e


def _public_key(key: Mapping[str, Any]) -> Any:
    from cryptography.hazmat.primitives.asymmetric import rsa  # lazy: optional

    modulus, exponent = (int.from_bytes(_decode(key[n]), "big") for n in ("n", "e"))
    if modulus.bit_length() < _LEAST_BITS:
        raise ValueError(f"a key has {modulus.bit_length()} bits, expected {_LEAST_BITS} or more")
    return rsa.RSAPublicNumbers(exponent, modulus).public_key()


def _is_signed(key: Any, signature: bytes, signed: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature  # lazy: optional
    from cryptography.hazmat.primitives import hashes  # lazy: optional
    from cryptography.hazmat.primitives.asymmetric import padding  # lazy: optional

    try:
        key.verify(signature, signed, padding.PKCS1v15(), hashes.SHA256())
    except InvalidSignature:
        return False
    return True
