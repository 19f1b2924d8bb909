"""L2, the tools: what the model may do on this machine, and the rules that ask the person first."""
