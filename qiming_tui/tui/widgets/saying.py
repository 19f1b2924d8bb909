"""A short sentence that a widget wants to be read now, without covering anything."""

from textual.message import Message


class Said(Message):
    """Shown beside the prompt for a few seconds; plain text."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self.words = words
