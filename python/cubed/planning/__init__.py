"""From arrays to runs: plans, their pictures and their memory."""
