"""What everything else is made with: chunks, types, warnings, pickles."""
