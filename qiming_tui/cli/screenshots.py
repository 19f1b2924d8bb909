"""`qiming screenshots`: pictures of the demo's scenarios as SVG."""

import asyncio
from pathlib import Path

import click

from qiming_tui.cli.output import print_lines
from qiming_tui.model.errors import InputError
from qiming_tui.tui.shots import SHOTS, Shot, take


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--only", multiple=True, metavar="NAME", help="Only pictures of this name; may be repeated.")
def screenshots(folder: Path, only: tuple[str, ...]) -> None:
    """Write pictures of the full screen into FOLDER: SVG, without a font from the web."""
    chosen = [shot for shot in SHOTS if not only or shot.name in only]
    if not chosen:
        names = ", ".join(dict.fromkeys(shot.name for shot in SHOTS))
        raise InputError(f"no picture is called {' or '.join(only)}", f"choose of: {names}")
    asyncio.run(_write(folder, chosen))


async def _write(folder: Path, chosen: list[Shot]) -> None:
    async for path in take(folder, chosen):
        print_lines([str(path)])
