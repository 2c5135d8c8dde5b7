"""Blocks are kept while there is room, and stay what they were."""

import threading

import numpy as np

from orthonmf.engine.sources import KeptBlocks


def test_nothing_is_kept_before_room_is_allowed():
    kept = KeptBlocks()
    assert kept.offer(0, np.ones(1)) is None
    assert kept.find(0) is None


def test_the_first_blocks_are_kept_until_the_room_is_taken():
    kept = KeptBlocks()
    kept.allow(24)
    for index, length in enumerate([2, 2, 1, 1]):
        kept.offer(index, np.full(length, float(index)))
    # Two numbers, then no room for two more but for one, then none.
    assert [kept.find(index) is not None for index in range(4)] == [True, False, True, False]
    np.testing.assert_array_equal(kept.find(2), [2.0])
    kept.allow(8)
    assert kept.offer(3, np.array([3.0])) is kept.find(3)
    assert kept.offer(1, np.array([1.0])) is None


def test_a_block_that_is_kept_stays_what_it_was_first():
    kept = KeptBlocks()
    kept.allow(100)
    store = np.arange(6.0)
    held = kept.offer(0, store[:3])
    store[:] = -1.0
    np.testing.assert_array_equal(held, [0.0, 1.0, 2.0])
    assert kept.offer(0, np.zeros(3)) is held
    own = np.ones(2)
    assert kept.offer(1, own) is own  # nobody else writes to it, so no copy is made


def test_blocks_that_two_threads_offer_take_their_room_once():
    kept = KeptBlocks()
    kept.allow(8 * 50)
    barrier = threading.Barrier(2)
    found = [[], []]

    def offer(mine):
        barrier.wait()
        mine += [kept.offer(index, np.full(1, float(index))) for index in range(50)]

    threads = [threading.Thread(target=offer, args=(mine,)) for mine in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for index, (one, other) in enumerate(zip(*found, strict=True)):
        assert one is other is kept.find(index)
