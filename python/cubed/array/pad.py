"""Import path of :func:`cubed.pad`."""

from cubed.base._paths import names_of

__getattr__ = names_of(
    __name__,
    {
        "pad": "cubed.array_api",
    },
)
