"""Tests of the store, with real files and real processes."""
