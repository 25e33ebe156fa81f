"""Older names of what is in :mod:`cubed.diagnostics`."""
