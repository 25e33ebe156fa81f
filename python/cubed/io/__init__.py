"""Input and output of arrays: NumPy, stores, and objects that are read in parts."""
