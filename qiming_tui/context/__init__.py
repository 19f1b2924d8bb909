"""L1, the context engine: pure functions from values to plans. No I/O, no clock, no randomness."""
