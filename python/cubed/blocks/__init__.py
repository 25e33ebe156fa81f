"""Functions of users on blocks: map_blocks, blockwise, gufuncs, overlap, groups."""
