"""The command `qiming`: finds the command, turns our exceptions into messages and exit codes."""

import os
import sys
from collections.abc import Sequence

import click

from qiming_tui import __version__
from qiming_tui.cli.lazy import Entry, LazyGroup
from qiming_tui.cli.output import plain_streams, print_error
from qiming_tui.cli.terminal import full_screen
from qiming_tui.model.errors import InputError, NotFound, QimingError

FAILURE = 1
BAD_INPUT = 2
INTERRUPTED = 130

TABLE = {
    "screen": Entry("screen:screen", "Talk to a model in the full screen (the same as nothing)."),
    "plain": Entry("plain:plain", "Talk to a model, line by line (the same as --plain)."),
    "run": Entry("run:run", "Work on one prompt without a person; one JSON event a line with --json."),
    "demo": Entry("demo:demo", "Watch a scenario of the scripted provider: no key, no network."),
    "inspect": Entry("inspect:inspect", "Ask what would be counted, sent, cleared or archived."),
    "context": Entry("context:context", "What fills a session's window, and how much is left."),
    "sessions": Entry("sessions:sessions", "List the sessions of the store."),
    "export": Entry("export:export", "Write a session in OpenCode's export shape."),
    "import": Entry("import_:import_", "Take in a session from such a file."),
    "models": Entry("models:models", "List models with their limits and what may be used of them."),
    "screenshots": Entry("screenshots:screenshots", "Write pictures of the full screen as SVG files."),
    "doctor": Entry("doctor:doctor", "Check this installation and say what to do."),
}


class Commands(LazyGroup):
    """The top: whatever begins with an option of a conversation, or with nothing, starts a conversation: in
    the full screen, or in lines with --plain and where there is no terminal."""

    table = TABLE
    hint = "A prompt goes behind --plain or run."

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """`qiming [--plain] [OPTIONS] [PROMPT]` is `qiming plain|screen [OPTIONS] [PROMPT]`."""
        own = {"--help", "--version", "-h"}
        talk = not args or (args[0].startswith("-") and args[0] not in own)
        plain = "--plain" in args and (talk or args[0] not in self.table)
        if plain:
            place = args.index("--plain")
            args = ["plain", *args[:place], *args[place + 1 :]]
        elif talk:
            args = ["screen" if full_screen() else "plain", *args]
        return super().parse_args(ctx, args)


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    options_metavar="[--plain] [--model M] [--session ID | --continue] [--store URL]",
    subcommand_metavar="[PROMPT] | COMMAND ...",
)
@click.version_option(__version__, prog_name="qiming", message="%(prog)s %(version)s")
def cli() -> None:
    """A coding agent for the terminal whose context window is visible.

    Alone, or with --plain, it starts a conversation in this folder.
    """


def main(argv: Sequence[str] | None = None) -> None:
    """Run a command line and exit with its code."""
    plain_streams()
    code = run(argv)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read our output went away: nothing more can be said, at exit neither.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = FAILURE
    sys.exit(code)


def run(argv: Sequence[str] | None = None) -> int:
    """Run a command line; the exit code. Errors have been printed on stderr."""
    try:
        code = cli.main(args=None if argv is None else list(argv), prog_name="qiming", standalone_mode=False)
    except click.ClickException as error:
        place = error.ctx if isinstance(error, click.UsageError) else None
        hint = f"{place.command_path} --help says how it is called" if place else ""
        print_error(error.format_message(), hint)
        return error.exit_code
    except QimingError as error:
        print_error(str(error), error.hint)
        return BAD_INPUT if isinstance(error, (InputError, NotFound)) else FAILURE
    except (click.Abort, KeyboardInterrupt):
        print_error("stopped")
        return INTERRUPTED
    return code if isinstance(code, int) else 0
