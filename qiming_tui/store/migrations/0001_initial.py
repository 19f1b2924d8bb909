"""The first schema. A frozen copy: it stays as it is when `schema.py` goes on."""

from peewee import (
    AutoField,
    BigIntegerField,
    BlobField,
    BooleanField,
    CompositeKey,
    Database,
    FloatField,
    ForeignKeyField,
    IntegerField,
    Model,
    TextField,
)


def up(migrator: object, db: Database) -> None:
    """Create every table and the full-text index."""
    session, message, part = _conversation(db)
    tables = [session, message, part, *_outputs(db, session, part), *_ledger(db, session)]
    tables += [_log(db, session, name) for name in ("edit", "attempt", "queue")]
    db.create_tables([*_projects(db), *tables], safe=False)
    db.execute_sql(  # type: ignore[no-untyped-call]  # stubs
        "CREATE VIRTUAL TABLE part_text USING fts5"
        " (text, content='', tokenize='unicode61 remove_diacritics 2')"
    )


def _projects(db: Database) -> list[type[Model]]:
    class Counter(Model):
        name = TextField(primary_key=True)
        value = BigIntegerField()

        class Meta:
            database = db

    class Project(Model):
        directory = TextField(primary_key=True)
        trusted = BooleanField()

        class Meta:
            database = db

    class Rule(Model):
        seq = IntegerField()
        directory = TextField()
        tool = TextField()
        pattern = TextField()
        action = TextField()

        class Meta:
            database = db
            primary_key = CompositeKey("directory", "tool", "pattern")

    class Calibration(Model):
        model = TextField(primary_key=True)
        data = TextField()

        class Meta:
            database = db

    class Lease(Model):
        session = TextField(primary_key=True, column_name="session_id")
        owner = TextField()
        pid = IntegerField()
        boot = TextField()
        host = TextField()
        beat = BigIntegerField()

        class Meta:
            database = db

    return [Counter, Project, Rule, Calibration, Lease]


def _conversation(db: Database) -> tuple[type[Model], type[Model], type[Model]]:
    class Session(Model):
        id = TextField(primary_key=True)
        directory = TextField()
        title = TextField()
        created = BigIntegerField()
        updated = BigIntegerField()
        revision = BigIntegerField()
        data = TextField()

        class Meta:
            database = db
            indexes = ((("directory", "updated"), False),)

    class Message(Model):
        id = TextField(primary_key=True)
        session = ForeignKeyField(Session, on_delete="CASCADE", index=False)
        seq = IntegerField()
        summary = BooleanField()
        ended = BooleanField()
        plain = BooleanField()
        data = TextField()

        class Meta:
            database = db
            indexes = ((("session", "seq"), False),)

    class Part(Model):
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
            database = db
            indexes = ((("session", "message", "seq"), False),)

    return Session, Message, Part


def _outputs(db: Database, session: type[Model], part_model: type[Model]) -> list[type[Model]]:
    owner = session

    class Output(Model):
        part = ForeignKeyField(part_model, field="id", on_delete="CASCADE", primary_key=True)
        sha256 = TextField()
        text = TextField()

        class Meta:
            database = db

    class Blob(Model):
        hash = BlobField(primary_key=True)
        codec = TextField()
        data = BlobField()

        class Meta:
            database = db

    class BlobUse(Model):
        session = ForeignKeyField(owner, on_delete="CASCADE", index=False)
        hash = BlobField(index=True)

        class Meta:
            database = db
            table_name = "blob_use"
            primary_key = CompositeKey("session", "hash")

    return [Output, Blob, BlobUse]


def _ledger(db: Database, session_model: type[Model]) -> list[type[Model]]:
    class Request(Model):
        id = TextField(primary_key=True)
        session = ForeignKeyField(session_model, on_delete="CASCADE", index=False)
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
            database = db
            indexes = ((("session", "seq"), False), (("session", "step"), False))

    return [Request]


def _log(db: Database, session_model: type[Model], name: str) -> type[Model]:
    class Row(Model):
        id = TextField(primary_key=True)
        session = ForeignKeyField(session_model, on_delete="CASCADE", index=False)
        seq = IntegerField()
        data = TextField()

        class Meta:
            database = db
            indexes = ((("session", "seq"), False),)

    return type(f"{name.title()}Row", (Row,), {"Meta": type("Meta", (), {"table_name": name})})
