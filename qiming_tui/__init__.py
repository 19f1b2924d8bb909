"""QimingTUI: a coding agent for the terminal whose context window is visible."""

__version__ = "0.1.0"
