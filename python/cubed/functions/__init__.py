"""Functions of arrays, by category: modules of the catalogue are written by tools/generate."""
