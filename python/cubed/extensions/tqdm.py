"""Older name of :mod:`cubed.diagnostics.tqdm`."""

from cubed.diagnostics.tqdm import TqdmProgressBar

__all__ = ["TqdmProgressBar"]
