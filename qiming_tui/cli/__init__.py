"""L6, the command line: one small file a command. `--json` is the contract, errors go to stderr.

Exit codes: 0, 1 for a failure, 2 for bad input, 130 after Ctrl-C.
"""
