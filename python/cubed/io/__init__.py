"""Where arrays come from and go to: NumPy, stores, objects that are read in parts."""
