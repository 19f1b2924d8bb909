"""The tables, as the newest migration leaves them (a test compares both).

Identity, order and what is searched by are columns; the value itself is JSON in `data`. The models are not
bound to a database: every query is executed on the connection that is given to it.
"""

from peewee import (
    AutoField,
    BigIntegerField,
    BlobField,
    BooleanField,
    CompositeKey,
    FloatField,
    ForeignKeyField,
    IntegerField,
    Model,
    TextField,
)


class Base(Model):
    """What all tables share."""

    class Meta:
        legacy_table_names = False


class Counter(Base):
    """Named numbers; `revision` counts the transactions that changed content."""

    name = TextField(primary_key=True)
    value = BigIntegerField()


class Project(Base):
    """A project folder and whether the user trusts it."""

    directory = TextField(primary_key=True)
    trusted = BooleanField()


class Rule(Base):
    """A permission that the user gave for a project folder; `seq` is the order of giving."""

    seq = IntegerField()
    directory = TextField()
    tool = TextField()
    pattern = TextField()
    action = TextField()

    class Meta:
        primary_key = CompositeKey("directory", "tool", "pattern")


class Session(Base):
    """A conversation; `revision` is the counter's value at its last change."""

    id = TextField(primary_key=True)
    directory = TextField()
    title = TextField()
    created = BigIntegerField()
    updated = BigIntegerField()
    revision = BigIntegerField()
    data = TextField()

    class Meta:
        indexes = ((("directory", "updated"), False),)


class Message(Base):
    """A message. `summary`: a finished summary without an error. `ended`: no answer is still being written.
    `plain`: nothing unknown in `data`."""

    id = TextField(primary_key=True)
    session = ForeignKeyField(Session, on_delete="CASCADE", index=False)
    seq = IntegerField()
    summary = BooleanField()
    ended = BooleanField()
    plain = BooleanField()
    data = TextField()

    class Meta:
        indexes = ((("session", "seq"), False),)


class Part(Base):
    """A part; its number `n` names it in the search index. `cleared`: its output is not sent any more."""

    n = AutoField()
    id = TextField(unique=True)
    session = ForeignKeyField(Session, on_delete="CASCADE", index=False)
    message = ForeignKeyField(Message, on_delete="CASCADE", index=True)
    seq = IntegerField()
    cleared = BooleanField()
    indexed = BooleanField()
    plain = BooleanField()
    data = TextField()

    class Meta:
        indexes = ((("session", "message", "seq"), False),)


class Output(Base):
    """The text that a tool returned, apart from its part: read only when it is sent or shown."""

    part = ForeignKeyField(Part, field="id", on_delete="CASCADE", primary_key=True)
    sha256 = TextField()
    text = TextField()


class Request(Base):
    """The ledger. The manifest is a difference to `base`'s: `prefix` items of it, then `rows` (ledger.py)."""

    id = TextField(primary_key=True)
    session = ForeignKeyField(Session, on_delete="CASCADE", index=False)
    seq = IntegerField()
    step = IntegerField()
    kind = TextField()
    outcome = TextField()
    cost = FloatField(null=True)
    base = TextField(null=True)
    depth = IntegerField()
    prefix = IntegerField()
    rows = BlobField()
    shift = BlobField(null=True)
    data = BlobField()

    class Meta:
        indexes = ((("session", "seq"), False), (("session", "step"), False))


class Blob(Base):
    """Canonical bytes of items, once each. `hash` is the digest's 32 bytes; `codec` is `zlib` or `raw`."""

    hash = BlobField(primary_key=True)
    codec = TextField()
    data = BlobField()


class BlobUse(Base):
    """Which sessions hold a blob: it goes with the last of them."""

    session = ForeignKeyField(Session, on_delete="CASCADE", index=False)
    hash = BlobField(index=True)

    class Meta:
        primary_key = CompositeKey("session", "hash")


class Log(Base):
    """What the tables of ordered values share; no table itself."""

    id = TextField(primary_key=True)
    session = ForeignKeyField(Session, on_delete="CASCADE", index=False)
    seq = IntegerField()
    data = TextField()

    class Meta:
        indexes = ((("session", "seq"), False),)


class EditRow(Log):
    """The append-only log of edits and of their undoing."""

    class Meta:
        table_name = "edit"


class AttemptRow(Log):
    """Tries to compact."""

    class Meta:
        table_name = "attempt"


class QueueRow(Log):
    """Accepted input that waits."""

    class Meta:
        table_name = "queue"


class Lease(Base):
    """Who writes a session; it may stand before the session does."""

    session = TextField(primary_key=True, column_name="session_id")
    owner = TextField()
    pid = IntegerField()
    boot = TextField()
    host = TextField()
    beat = BigIntegerField()


class Calibration(Base):
    """What was learned of a model's tokenizer."""

    model = TextField(primary_key=True)
    data = TextField()


TABLES: tuple[type[Base], ...] = (
    Counter,
    Project,
    Rule,
    Session,
    Message,
    Part,
    Output,
    Request,
    Blob,
    BlobUse,
    EditRow,
    AttemptRow,
    QueueRow,
    Lease,
    Calibration,
)
"""In an order in which they can be created and filled."""

OF_SESSION = (Message, Part, Request, BlobUse, EditRow, AttemptRow, QueueRow)
"""Tables whose rows go with their session."""

SEARCH = "part_text"
"""The full-text index: rowid = `Part.n`, contents are not stored twice."""
