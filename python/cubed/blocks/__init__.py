"""User-defined functions on blocks: map_blocks, blockwise, gufuncs, overlap, groups."""
