"""A small screen in a process of its own, with or without the guard: what test_guard kills in every way.

python -m tests.tui.guarded guard|plain
"""

import os
import sys
import time
from contextlib import nullcontext

from textual import work
from textual.app import App, ComposeResult
from textual.widgets import Input, Static

from qiming_tui.tui.guard import Guard


class Victim(App[int]):
    """Dies in the way that a key names."""

    def __init__(self, guard: Guard | None) -> None:
        super().__init__()
        self._guard = guard

    def compose(self) -> ComposeResult:
        yield Input()
        yield Static("READY TO DIE")

    def on_mount(self) -> None:
        if self._guard is not None:
            self._guard.arm(lambda code: self.exit(return_code=code))

    def on_key(self, event) -> None:
        if event.key == "f5":
            self.exit(return_code=0)
        elif event.key == "f6":
            raise RuntimeError("a handler broke")
        elif event.key == "f7":
            os._exit(3)
        elif event.key == "f8":
            self.in_thread()
        elif event.key == "f9":
            print("spinning")
            sys.__stderr__.write("\x1b]0;busy\x07")
            sys.__stderr__.flush()
            while True:
                pass
        elif event.key == "f10":
            sys.__stderr__.write("\x1b]0;busy\x07")
            sys.__stderr__.flush()
            time.sleep(60)

    @work(thread=True)
    def in_thread(self) -> None:
        raise RuntimeError("a thread broke")


def main() -> None:
    guard = Guard(hard_s=0.4) if sys.argv[1] == "guard" else None
    with guard or nullcontext():
        app = Victim(guard)
        app.run()
    sys.exit(app.return_code if app.return_code is not None else 1)


if __name__ == "__main__":
    main()
