"""Pictures: the real program plays a scenario; the SVG asks nobody for anything."""

import re
from xml.etree import ElementTree

from qiming_tui.cli.main import run
from qiming_tui.tui.picture import local_fonts
from qiming_tui.tui.shots import SHOTS, Shot, take

SVG = """<svg><style>
    @font-face {
        font-family: "Fira Code";
        src: local("FiraCode-Regular"), url("https://cdn.example/fira.woff2") format("woff2");
    }
    .a { font-family: Fira Code, monospace; font-size: 20px; }
</style><text class="a" x="0">&#160;two &lt;b&gt;</text></svg>"""


def test_the_web_font_goes_and_blanks_stay():
    found = local_fonts(SVG)
    assert "@font-face" not in found
    assert "http" not in found
    assert "Fira" not in found
    assert "monospace; font-size: 20px; }" in found
    assert '<text xml:space="preserve" class="a" x="0">&#160;two &lt;b&gt;</text>' in found


def test_every_picture_has_a_name_of_its_own():
    names = [shot.file_name for shot in SHOTS]
    assert len(set(names)) == len(names)


async def test_a_scenario_is_played_to_its_end_and_drawn(tmp_path):
    shot = Shot(name="pruned", scenario="prune", size=(80, 24))
    paths = [path async for path in take(tmp_path / "new" / "folder", [shot])]
    assert [path.name for path in paths] == ["pruned-80x24.svg"]
    svg = paths[0].read_text(encoding="utf-8")
    root = ElementTree.fromstring(svg)
    words = " ".join("".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text"))
    words = " ".join(words.split())
    assert "timeline" in words
    assert "ctx/10" in words
    assert re.search(r"1 prune|[2-9] prunes", words)
    addresses = set(re.findall(r"https?://[^\s\"'<)]+", svg))
    assert addresses <= {"http://www.w3.org/2000/svg", "https://www.textualize.io"}, "a comment and a name"


def test_a_picture_that_is_not_there_lists_those_that_are(tmp_path, capsys):
    assert run(["screenshots", str(tmp_path / "out"), "--only", "nope"]) == 2
    assert "choose of: grow, prune" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_made_is_said(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert run(["screenshots", str(tmp_path / "file" / "out"), "--only", "grow"]) == 2
    assert "cannot be written" in capsys.readouterr().err
