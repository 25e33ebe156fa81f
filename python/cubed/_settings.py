"""Settings: from a YAML file, the environment, and code.

``cubed.config.get("spec.allowed_mem")``; ``cubed.config.set({"spec.allowed_mem": "1GB"})``, also as
a context manager. ``CUBED_CONFIG`` names a file; environment variables in its values are expanded.
A variable such as ``CUBED_SPEC__ALLOWED_MEM`` sets one value.
"""

from typing import Any

from donfig import Config
from donfig.config_obj import expand_environment_variables

defaults = {
    "spec": {
        "allowed_mem": "2GB",
        "reserved_mem": "100MB",
        "executor_name": "threads",
    }
}

#: ``cubed.config``
config: Any = Config("cubed", defaults=[defaults])
config.update(expand_environment_variables(config.config))
