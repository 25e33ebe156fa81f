"""Import path of functions that skip NaN."""

from cubed.base._paths import names_of

__getattr__ = names_of(
    __name__,
    {
        "nanargmax": "cubed.array_api",
        "nanargmin": "cubed.array_api",
        "nancumprod": "cubed.array_api",
        "nancumsum": "cubed.array_api",
        "nanmax": "cubed.array_api",
        "nanmean": "cubed.array_api",
        "nanmedian": "cubed.array_api",
        "nanmin": "cubed.array_api",
        "nanprod": "cubed.array_api",
        "nanstd": "cubed.array_api",
        "nansum": "cubed.array_api",
        "nanvar": "cubed.array_api",
    },
)
