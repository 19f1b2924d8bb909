"""L4, the demo: scenarios as data, played by the real worker, store, tools and engine."""
