"""Clear, restore, pin and why in the plain front end: the edit is made, its price told, its undo named."""

import pytest

from qiming_tui.cli.plain_edits import edit, largest, tell_why
from qiming_tui.model.errors import InputError
from qiming_tui.model.parts import ToolPart
from qiming_tui.model.window import ItemState
from tests.session.harness import Model, call, say, session, used


async def test_a_result_is_cleared_restored_and_pinned_by_its_id(tmp_path):
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "a.txt").write_text("alpha beta gamma\n" * 200)
    model = Model(call("read", {"filePath": "a.txt"}, used(100, 20)), say("read", used(900, 5)))
    async with session(tmp_path, model) as rig:
        await rig.ask("read a.txt")
        said = []

        def note(label, words):
            said.append((label, words))

        async def window():
            view = await rig.worker.ctx.engine.view(rig.worker.ctx.profile)
            lines = largest(view, rig.live.entries)
            return view, lines

        (part,) = [p for e in rig.live.entries for p in e.parts if isinstance(p, ToolPart)]
        _, lines = await window()
        assert lines[0].startswith(part.id)
        assert "read a.txt" in lines[0]
        for name, state, words in (
            ("clear", ItemState.CLEARED, "clear: frees ~"),
            ("restore", ItemState.SENT, "restore: adds ~"),
            ("pin", ItemState.SENT, "pin: "),
        ):
            await edit(rig.worker, note, name, part.id)
            await rig.idle()
            view, lines = await window()
            result = next(i for i in view.items if i.key == f"{part.id}:result")
            assert result.state is state
            assert said[-1][0] == "edit"
            assert said[-1][1].startswith(words)
            assert said[-1][1].endswith("/undo takes it back")
        assert result.pinned
        assert any(line.startswith(part.id) and line.endswith("pinned") for line in lines)
        await tell_why(rig.worker, note, "")
        assert said[-1][1].startswith("step 2: a turn's request")
        for name, words in (("clear", ""), ("pin", " ")):
            with pytest.raises(InputError, match=f"/{name} what"):
                await edit(rig.worker, note, name, words)
        with pytest.raises(InputError, match="no step"):
            await tell_why(rig.worker, note, "soon")
