"""A worker as a function of Google Cloud Functions: the entry point is `work`.

`requirements.txt` beside this file names the wheel of this version, `cryptography` and
`functions-framework`.
"""

from cubed.runtime.http_worker import google_function as work

__all__ = ["work"]
