"""Servers on the loopback that speak the wire formats of model providers."""
