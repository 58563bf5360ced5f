"""The shuffler: who may make what, exact uniformity over all permutations, the wire."""

import tracemalloc
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from segshuffle.collection.messages.server import tally
from segshuffle.collection.messages.shuffler import ShuffledMessages, Shuffler
from segshuffle.errors import DataError

# every test below has one p-value per case; with about ten cases the false-alarm rate of the file is below 1e-7
ALARM = 1e-9


def shuffled(batches, rng, dtype=np.uint8):
    return Shuffler(rng).release(batches, dtype)


def words(messages):
    return [word for block in messages.blocks() for word in block.tolist()]


@pytest.mark.quick(0)
@pytest.mark.parametrize("batches", [[[0, 1, 2, 3]], [[0, 1], [2, 3]], [[0], [1, 2], [3]], [[0], [], [1], [2]]])
def test_every_permutation_is_equally_likely(batches, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    rng = np.random.default_rng(len(batches))
    seen = dict.fromkeys(permutations(range(sum(map(len, batches)))), 0)
    for _ in range(2000):
        seen[tuple(words(shuffled(batches, rng)))] += 1
    assert stats.chisquare(list(seen.values())).pvalue > ALARM
    assert not list(tmp_path.iterdir())


def test_positions_do_not_remember_batches():
    """Of N messages, half from early batches: how many of those are in the first half is hypergeometric."""
    rng = np.random.default_rng(7)
    half = 20_000
    batches = [np.zeros(2000, dtype=np.uint8)] * 10 + [np.ones(2000, dtype=np.uint8)] * 10
    released = np.array(words(shuffled(batches, rng)))
    early = int(np.sum(released[:half] == 0))
    law = stats.hypergeom(2 * half, half, half)
    assert 2 * min(law.cdf(early), law.sf(early - 1)) > ALARM
    # nor does the next message's batch depend on the last one's
    changes = int(np.sum(released[1:] != released[:-1]))
    assert abs(changes - half) < 6.5 * np.sqrt(half / 2)


def test_nothing_is_lost_or_made_up():
    rng = np.random.default_rng(3)
    batches = [rng.integers(300, size=size) for size in (0, 1, 5000, 17, 100_000)]
    messages = shuffled(batches, rng, np.uint16)
    assert (len(messages), messages.nbytes) == (105_018, 2 * 105_018)
    assert sorted(words(messages)) == sorted(np.concatenate(batches).tolist())
    assert words(shuffled([], rng)) == []


def test_messages_take_no_memory_of_the_program():
    """A batch and the buffer of the file take far less than all messages."""
    batch = np.zeros(20_000, dtype=np.uint8)
    tracemalloc.start()
    assert len(shuffled(50 * [batch], np.random.default_rng(0))) == 10**6
    assert tracemalloc.get_traced_memory()[1] < 0.4 * 10**6
    tracemalloc.stop()


def test_only_the_shuffler_makes_shuffled_messages():
    with pytest.raises(TypeError, match=r"Shuffler\.release"):
        ShuffledMessages(np.zeros(3, dtype=np.uint8), seal=object())
    for pretender in (np.zeros(3, dtype=np.uint8), [0, 1]):
        with pytest.raises(TypeError, match="ShuffledMessages only"):
            tally(pretender, 5)


@pytest.mark.parametrize(
    ("words", "counts"),
    [(3, [0, 1, 2]), (5, [0, 1, 2, 1, 1])],
)
def test_words_that_name_nothing_are_left_out(words, counts):
    messages = shuffled([[3, 255, 4], [1, 2, 2]], np.random.default_rng(0))
    assert tally(messages, words).tolist() == counts


def test_a_folder_that_does_not_exist_is_an_error_with_advice(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(DataError, match=r"cannot be collected .*\(No such file or directory\).*TMPDIR"):
        shuffled([[1]], np.random.default_rng(0))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
@pytest.mark.parametrize("batch", [[1], [1] * 2**16], ids=["buffered", "written at once"])
def test_a_full_disk_is_an_error_with_advice(monkeypatch, batch):
    opened = Path("/dev/full").open
    monkeypatch.setattr("tempfile.TemporaryFile", lambda: opened("w+b"))
    with pytest.raises(DataError, match=r"cannot be collected .*\(No space left on device\)"):
        shuffled([batch], np.random.default_rng(0))
