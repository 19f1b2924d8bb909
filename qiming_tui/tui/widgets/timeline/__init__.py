"""The timeline in full: a column a step, painted column by column, and its read-out."""
