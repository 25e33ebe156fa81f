"""The lazy array: methods, operators, indexing and NumPy's protocols."""
