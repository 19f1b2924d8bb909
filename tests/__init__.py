"""Tests of QimingTUI."""
