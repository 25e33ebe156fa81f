"""Import path of :func:`cubed.raise_if_computes`."""

from cubed.base._paths import names_of

__getattr__ = names_of(
    __name__,
    {
        "raise_if_computes": "cubed.planning._guard",
    },
)
