"""Implements NumPy's functions and ufuncs for lazy arrays, by NEP 13 and NEP 18."""
