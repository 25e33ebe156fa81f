"""Plans of arrays, their runs, drawings and memory."""
