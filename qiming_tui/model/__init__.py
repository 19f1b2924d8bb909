"""L0, the values: frozen msgspec Structs and enums that every other layer speaks.

Nothing here does I/O, reads a clock or knows how anything is stored, sent or shown.
"""
