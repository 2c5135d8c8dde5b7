"""What memory is left, told by files of the kernel as they are on machines of several kinds."""

import os

import pytest

from orthonmf.engine import memory
from orthonmf.engine.memory import available_memory, in_words, memory_limit, refuse_beyond_memory
from orthonmf.errors import TooLargeError

resource = pytest.importorskip("resource")


@pytest.fixture
def limits(monkeypatch):
    """The limits set for the process: none but those that a test writes here."""
    found = {}
    unlimited = resource.RLIM_INFINITY
    monkeypatch.setattr(resource, "getrlimit", lambda which: (found.get(which, unlimited), 0))
    return found


@pytest.fixture
def machine(tmp_path, monkeypatch, limits):
    """A function that writes the files of /proc and /sys, in a folder, by their paths."""
    monkeypatch.setattr(memory, "PROCESS", tmp_path / "self")
    monkeypatch.setattr(memory, "MACHINE", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "CGROUPS", tmp_path / "cgroup")

    def write(**files):
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/").replace("_dot_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    write(meminfo="MemTotal:  999 kB\nMemFree: 1 kB\nMemAvailable:     500 kB\n")
    return write


def test_the_machine_tells_what_is_available_not_what_is_free(machine):
    assert available_memory() == 500 * 1024


def test_a_control_group_takes_part_with_its_caches_given_back(machine):
    machine(
        self__cgroup="0::/a/b\n",
        cgroup__a__b__memory_dot_max="100000\n",
        cgroup__a__b__memory_dot_current="70000\n",
        cgroup__a__b__memory_dot_stat="anon 5\nactive_file 9\ninactive_file 20000\n",
    )
    assert available_memory() == 50000
    assert memory_limit() == 100000


def test_the_tightest_of_nested_groups_counts_and_max_is_no_limit(machine):
    machine(
        self__cgroup="0::/a/b\n",
        cgroup__a__b__memory_dot_max="max\n",
        cgroup__a__memory_dot_max="90000\n",
        cgroup__a__memory_dot_current="100000\n",
        cgroup__memory_dot_max="400000\n",
    )
    assert available_memory() == 0  # never below
    assert memory_limit() == 90000


def test_a_container_that_names_the_path_of_its_host_has_the_limit_of_the_root(machine):
    machine(self__cgroup="0::/host/path\n", cgroup__memory_dot_max="3000\n")
    assert available_memory() == 3000


def test_groups_of_the_first_version_count_where_they_are_about_memory(machine):
    machine(
        self__cgroup="7:cpu,cpuacct:/x\n4:memory,hugetlb:/x\n",
        cgroup__memory__x__memory_dot_limit_in_bytes="8000",
        cgroup__memory__x__memory_dot_usage_in_bytes="3000",
        cgroup__memory__x__memory_dot_stat="inactive_file 500\ntotal_inactive_file 7\n",
        cgroup__memory_dot_max="1",  # of the other version, which this line does not name
    )
    assert available_memory() == 5500
    assert memory_limit() == 8000


def test_a_limit_of_the_process_leaves_what_it_has_not_taken(machine, limits):
    limits.update({resource.RLIMIT_AS: 300_000, resource.RLIMIT_DATA: 250_000})
    machine(self__status="Name: x\nVmSize:\t    100 kB\nVmData:\t 90 kB\n")
    assert available_memory() == 250_000 - 90 * 1024
    assert memory_limit() == 250_000


def test_without_any_file_the_pages_of_the_system_tell(machine, tmp_path):
    (tmp_path / "meminfo").unlink()
    assert 0 < available_memory() <= memory_limit()
    assert memory_limit() == os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def test_what_is_needed_is_compared_and_told_with_a_remedy(machine):
    refuse_beyond_memory(500 * 1024, "the result", "ask for less")
    with pytest.raises(TooLargeError) as caught:
        refuse_beyond_memory(500 * 1024 + 1, "the result", "ask for less")
    assert str(caught.value) == (
        "the result takes about 512 kB, but 512 kB of memory are available; ask for less"
    )


def test_where_nothing_is_known_nothing_is_refused(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: None)
    refuse_beyond_memory(10**30, "this", "that")


@pytest.mark.parametrize(
    ("size", "words"), [(0, "0 bytes"), (1000, "1 kB"), (10**21, "1e+03 EB"), (5 * 10**18, "5 EB")]
)
def test_the_smallest_and_the_largest_sizes_have_words(size, words):
    assert in_words(size) == words
