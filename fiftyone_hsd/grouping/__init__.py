"""Evidence that samples belong together: one source a file, and `merge` that makes groups of it."""
