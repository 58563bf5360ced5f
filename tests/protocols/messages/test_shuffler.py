"""The shuffler: who may make what, exact uniformity over all permutations, the wire."""

import tracemalloc
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from segshuffle.errors import DataError
from segshuffle.protocols.messages.server import tally
from segshuffle.protocols.messages.shuffler import Outbox, ShuffledMessages, Shuffler

# every test below has one p-value per case; with about ten cases the false-alarm rate of the file is below 1e-7
ALARM = 1e-9


def shuffled(batches, rng, *, spill=False, dtype=np.uint8):
    with Shuffler(dtype, rng, spill=spill) as shuffler:
        for batch in batches:
            shuffler.collect(Outbox(batch))
        return shuffler.release()


def words(messages, size=2**16):
    with messages:
        return [word for block in messages.blocks(size) for word in block.tolist()]


@pytest.mark.quick(0)
@pytest.mark.parametrize("batches", [[[0, 1, 2, 3]], [[0, 1], [2, 3]], [[0], [1, 2], [3]], [[0], [], [1], [2]]])
@pytest.mark.parametrize("spill", [False, True])
def test_every_permutation_is_equally_likely(batches, spill, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    rng = np.random.default_rng(len(batches))
    seen = dict.fromkeys(permutations(range(sum(map(len, batches)))), 0)
    for _ in range(2000):
        seen[tuple(words(shuffled(batches, rng, spill=spill)))] += 1
    assert stats.chisquare(list(seen.values())).pvalue > ALARM
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("spill", [False, True])
def test_positions_do_not_remember_batches(spill):
    """Of N messages, half from early batches: how many of those are in the first half is hypergeometric."""
    rng = np.random.default_rng(7)
    half = 20_000
    batches = [np.zeros(2000, dtype=np.uint8)] * 10 + [np.ones(2000, dtype=np.uint8)] * 10
    released = np.array(words(shuffled(batches, rng, spill=spill)))
    early = int(np.sum(released[:half] == 0))
    law = stats.hypergeom(2 * half, half, half)
    assert 2 * min(law.cdf(early), law.sf(early - 1)) > ALARM
    # nor does the next message's batch depend on the last one's
    changes = int(np.sum(released[1:] != released[:-1]))
    assert abs(changes - half) < 6.5 * np.sqrt(half / 2)


@pytest.mark.parametrize("spill", [False, True])
def test_nothing_is_lost_or_made_up(spill):
    rng = np.random.default_rng(3)
    batches = [rng.integers(300, size=size) for size in (0, 1, 5000, 17, 100_000)]
    for block in (1, 999, 10**6):
        with shuffled(batches, rng, spill=spill, dtype=np.uint16) as messages:
            assert len(messages) == 105_018
            assert messages.nbytes == 2 * 105_018
            if block > 1:
                assert sorted(words(messages, block)) == sorted(np.concatenate(batches).tolist())
    assert words(shuffled([], rng, spill=spill)) == []


def test_what_is_spilled_takes_no_memory_of_the_program():
    """A batch and what the file buffers: far less than all messages."""
    batch, peaks = np.zeros(20_000, dtype=np.uint8), {}
    for spill in (False, True):
        tracemalloc.start()
        with shuffled(50 * [batch], np.random.default_rng(0), spill=spill) as messages:
            assert len(messages) == 10**6
            peaks[spill] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peaks[True] < 0.4 * 10**6 < 10**6 < peaks[False]


def test_only_the_shuffler_makes_shuffled_messages():
    with pytest.raises(TypeError, match=r"Shuffler\.release"):
        ShuffledMessages(np.zeros(3, dtype=np.uint8), np.uint8, 3, seal=object())
    for pretender in (np.zeros(3, dtype=np.uint8), [0, 1], Outbox([0, 1])):
        with pytest.raises(TypeError, match="ShuffledMessages only"):
            tally(pretender, 5)


@pytest.mark.parametrize("spill", [False, True])
def test_shuffled_messages_hold_the_words_and_nothing_else(spill):
    with shuffled([[3, 1], [2]], np.random.default_rng(0), spill=spill) as messages:
        assert not hasattr(messages, "__dict__")
        for block in messages.blocks():
            assert not block.flags.writeable
            assert block.dtype == np.uint8
        assert sorted(word for block in messages.blocks(1) for word in block.tolist()) == [1, 2, 3]


def test_a_shuffler_releases_once():
    shuffler = Shuffler(np.uint8, np.random.default_rng(0))
    shuffler.collect(Outbox([1]))
    shuffler.release().close()
    with pytest.raises(RuntimeError, match="already released"):
        shuffler.release()
    with pytest.raises(RuntimeError, match="already released"):
        shuffler.collect(Outbox([1]))


@pytest.mark.parametrize(
    ("size", "signed", "counts", "refused"),
    [(3, False, [0, 1, 2], 3), (2, True, [-2, 0], 2), (5, False, [0, 1, 2, 1, 1], 1)],
)
def test_words_that_name_nothing_are_counted_and_left_out(size, signed, counts, refused):
    with shuffled([[3, 255, 4], [1, 2, 2]], np.random.default_rng(0)) as messages:
        counted = tally(messages, size, signed=signed)
    assert (counted.counts.tolist(), counted.refused) == (counts, refused)


def test_a_folder_that_does_not_exist_is_an_error_with_advice(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(DataError, match=r"cannot be spilled .*\(No such file or directory\).*raise chunk_users"):
        Shuffler(np.uint8, np.random.default_rng(0), spill=True)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
@pytest.mark.parametrize("batch", [[1], [1] * 2**16], ids=["buffered", "written at once"])
def test_a_full_disk_is_an_error_with_advice(monkeypatch, batch):
    opened = Path("/dev/full").open
    monkeypatch.setattr("tempfile.TemporaryFile", lambda: opened("w+b"))
    with pytest.raises(DataError, match=r"cannot be spilled .*\(No space left on device\)"):
        shuffled([batch], np.random.default_rng(0), spill=True)
