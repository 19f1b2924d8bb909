"""When an event is told (`data.md` 1): after the store has it, and not after the end."""

import asyncio

from qiming_tui.model import events as e
from qiming_tui.model.stream import TextDelta
from tests.session.harness import Model, session


async def test_a_state_is_told_after_the_store_has_it(tmp_path):
    """Whoever reads the store at the moment of an event finds what the event says."""
    stored, told = [], []
    async with session(tmp_path, Model([TextDelta("hel"), TextDelta("lo")])) as rig:
        apply = rig.runtime.store.apply

        async def noted(changes):
            await apply(changes)
            stored.extend(changes)

        rig.runtime.store.apply = noted

        def listen(event):
            match event:
                case e.PartFinished(part=part):
                    told.append(any(getattr(change, "part", None) == part for change in stored))
                case e.MessageUpdated(info=info):
                    told.append(any(getattr(change, "message", None) == info for change in stored))

        rig.worker.ctx.bus.listen(listen)
        await rig.ask("say hello")
    assert told
    assert all(told)


async def test_nothing_is_told_after_the_end(tmp_path):
    async with session(tmp_path, Model()) as rig:
        await rig.ask("hello")
        await rig.worker.close()
        count = len(rig.events)
        await asyncio.sleep(0)
        assert len(rig.events) == count
