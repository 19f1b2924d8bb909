"""L2, the store: sessions, messages, ledger and leases in one SQLite file. Peewee lives here only."""
