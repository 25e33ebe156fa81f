"""Logs what tasks import. test_imports_in_tasks.py loads this module in worker processes."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from cubed.runtime import _call

_run = _call._run


def _logged(runner, *args):
    before = set(sys.modules)
    try:
        return _run(runner, *args)
    finally:
        new = sorted(set(sys.modules) - before)
        with Path(os.environ["CUBED_TEST_IMPORT_LOG"]).open("a") as log:
            log.write(f"{runner!r:.60}: {' '.join(new)}\n")


_call._run = _logged
