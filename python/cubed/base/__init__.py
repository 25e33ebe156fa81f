"""Foundations of the other modules: chunks, types, warnings, pickles."""
