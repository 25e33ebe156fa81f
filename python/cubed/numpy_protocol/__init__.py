"""NumPy's functions and ufuncs of lazy arrays, by the protocols of NEP 13 and NEP 18."""
