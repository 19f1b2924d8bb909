"""The full screen: Textual lives here and nowhere else."""
