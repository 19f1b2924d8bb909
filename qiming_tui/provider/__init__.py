"""L2, the gateways to models: child processes, wire formats, faults, usage, catalogue (`design.md` 7)."""
