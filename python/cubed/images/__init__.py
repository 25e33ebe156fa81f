"""Functions of images that are not rows of the catalogue, for :mod:`cubed.ndimage`."""
