"""Older import paths of the modules of :mod:`cubed.diagnostics`."""
