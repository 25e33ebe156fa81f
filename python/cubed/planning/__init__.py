"""Plans: from arrays to runs, with pictures and memory."""
