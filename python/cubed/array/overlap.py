"""Import path of :func:`cubed.map_overlap`."""

from cubed.base._paths import names_of

__getattr__ = names_of(
    __name__,
    {
        "map_overlap": "cubed.blocks._overlap",
    },
)
