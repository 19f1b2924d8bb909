"""How fast the program is, as ratios against something simple in the same run: `python -m tests.bench`."""
