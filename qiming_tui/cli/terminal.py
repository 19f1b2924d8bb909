"""What standard input and output are connected to."""

import os
import sys


def full_screen() -> bool:
    """Whether there is a terminal that can show the full screen."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"
