"""`python -m qiming_tui` is `qiming`."""

from qiming_tui.cli.main import main

if __name__ == "__main__":
    main()
