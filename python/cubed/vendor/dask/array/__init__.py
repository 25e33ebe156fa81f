"""Import paths of Cubed for Python that other packages use."""
