"""Functions that exist only because Cubed for Python has them; its import paths re-export them."""
