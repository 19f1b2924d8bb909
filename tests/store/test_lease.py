"""Who may write a session (`data.md` 5), with time that is moved by hand."""

import os
import subprocess
import sys

import msgspec
import pytest

from qiming_tui.model.changes import DropQueue, PutPart, PutTrust
from qiming_tui.model.errors import SessionBusy
from qiming_tui.store.lease import BEAT_MS, EXPIRES_MS, Here, Lease, here, is_live, process_lives
from tests.store.conftest import Opener
from tests.store.values import NOW, Clock, S, talk, text

ME = Here(100, "boot", "host")


def held(**fields: object) -> Lease:
    base = Lease(session_id=S, owner="o", pid=here().pid, boot="boot", host="host", beat=NOW)
    return msgspec.structs.replace(base, **fields)


def test_silence_ends_a_lease() -> None:
    assert is_live(held(), NOW + EXPIRES_MS - 1, ME)
    assert not is_live(held(), NOW + EXPIRES_MS, ME)
    assert 4 * BEAT_MS < EXPIRES_MS


def test_a_restart_of_the_machine_ends_a_lease_of_this_host_only() -> None:
    assert not is_live(held(boot="older"), NOW, ME)
    assert is_live(held(boot="older", host="elsewhere", pid=999_999_999), NOW, ME)


def test_a_dead_process_frees_its_lease_at_once() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert process_lives(child.pid)
    assert is_live(held(pid=child.pid), NOW, ME)
    child.kill()
    child.communicate()
    assert not process_lives(child.pid)
    assert not is_live(held(pid=child.pid), NOW, ME)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_a_zombie_is_dead() -> None:
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not process_lives(child.pid)
    assert child.wait() == 0


async def test_one_holder_at_a_time(opener: Opener, clock: Clock) -> None:
    one, two = opener(), opener()
    assert await one.acquire(S, "one")
    assert await one.acquire(S, "one"), "again, by the same"
    assert not await two.acquire(S, "two")
    assert await two.acquire("ses_b", "two"), "another session is free"
    lease = await two.lease(S)
    assert lease is not None
    assert (lease.owner, lease.pid, lease.beat) == ("one", here().pid, NOW)
    clock.now += EXPIRES_MS - 1
    assert await one.beat(S, "one")
    clock.now += EXPIRES_MS - 1
    assert not await two.acquire(S, "two"), "it was renewed"
    await two.release(S, "two")
    assert await two.lease(S) is not None, "not his to give back"
    await one.release(S, "one")
    assert await two.lease(S) is None
    assert await two.acquire(S, "two")


async def test_closing_gives_leases_back(opener: Opener) -> None:
    one, two = opener(), opener()
    assert await one.acquire(S, "one")
    one.close()
    assert await two.acquire(S, "two")


async def test_c_112_who_slept_while_another_took_over_overwrites_nothing(
    opener: Opener, clock: Clock
) -> None:
    one, two = opener(), opener()
    await one.apply(talk([text("prt_1", "one")]))
    assert await one.acquire(S, "one")
    await one.apply([PutPart(text("prt_1", "one again"), 0)])
    clock.now += EXPIRES_MS
    assert await two.acquire(S, "two")
    await two.apply([PutPart(text("prt_1", "two"), 0)])
    assert not await one.beat(S, "one"), "it is told"
    with pytest.raises(SessionBusy, match="another program has taken over this session"):
        await one.apply([PutPart(text("prt_1", "old"), 0)])
    with pytest.raises(SessionBusy):
        await one.delete(S)
    with pytest.raises(SessionBusy):
        await one.recover(S)
    assert (await one.load(S)).entries[0].text == "two"
    await one.apply([*talk(id="ses_b", message="msg_b"), PutTrust("/a", True)])
    two.close()
    with pytest.raises(SessionBusy, match="left it again"):
        await one.apply([PutPart(text("prt_1", "old"), 0)])
    assert await one.acquire(S, "one"), "what one has in memory is old: it starts anew"
    await one.apply([PutPart(text("prt_1", "after"), 0)])


async def test_a_session_is_taken_by_force(opener: Opener) -> None:
    one, two = opener(), opener()
    await one.apply(talk([text("prt_1", "one")]))
    assert await one.acquire(S, "one")
    assert await two.acquire(S, "two", force=True)
    assert not await one.beat(S, "one")
    with pytest.raises(SessionBusy):
        await one.apply([PutPart(text("prt_1", "old"), 0)])
    await two.apply([PutPart(text("prt_1", "two"), 0)])


async def test_a_heartbeat_is_no_change_of_content(opener: Opener, clock: Clock) -> None:
    one, two = opener(), opener(read_only=True)
    await one.apply([*talk(), *talk(id="ses_b", message="msg_b")])
    whole, part = await two.version(), await two.version(S)
    assert await one.acquire(S, "one")
    clock.now += BEAT_MS
    assert await one.beat(S, "one")
    assert not await two.changed_since(whole)
    assert not await two.changed_since(part, S)
    await one.apply([PutPart(text("prt_b", "x", "msg_b", "ses_b"), 0)])
    assert await two.changed_since(whole)
    assert not await two.changed_since(part, S), "another session's change"
    await one.apply([PutPart(text("prt_a", "x"), 0)])
    assert await two.changed_since(part, S)
    assert await one.version() == await two.version() > whole
    whole = await two.version()
    await one.delete("ses_b")
    assert await two.changed_since(whole)
    assert await two.version("ses_b") == 0
    await one.apply([DropQueue("none")])
