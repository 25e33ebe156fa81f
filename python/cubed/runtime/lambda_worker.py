"""A worker in AWS Lambda that runs Python functions: ``python -m cubed.runtime.lambda_worker``.

It is the entry point of a container image (``packaging/lambda/Containerfile``). The command's
``cubed worker --lambda`` does the same without Python, and without Python functions.
"""

from __future__ import annotations

import os
import sys

from cubed import _core


def main() -> None:
    """Serves invocations until the service ends the process."""
    api = os.environ.get("AWS_LAMBDA_RUNTIME_API")
    if not api:
        sys.exit(
            "cubed.runtime.lambda_worker: AWS_LAMBDA_RUNTIME_API is not set: this is not an AWS"
            " Lambda function"
        )
    try:
        _core.serve_lambda(api)
    except OSError as e:
        sys.exit(f"cubed.runtime.lambda_worker: {e}")


if __name__ == "__main__":
    main()
