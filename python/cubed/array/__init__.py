"""The lazy array: its methods, operators, indexing, and what NumPy asks of it."""
