"""L2, session files of other programs: one file a format, each with `sniff` and `read`."""
