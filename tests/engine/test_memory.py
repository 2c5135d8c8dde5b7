"""What memory is left, and the refusal of what needs more."""

import subprocess
import sys

import pytest

from orthonmf.engine import memory
from orthonmf.engine.memory import available_memory, memory_limit, refuse_beyond_memory
from orthonmf.errors import TooLargeError


def test_the_limit_of_a_container_counts_with_its_caches_given_back(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "CONTROL_GROUP", tmp_path)
    (tmp_path / "memory.max").write_text("100000\n")
    (tmp_path / "memory.current").write_text("70000\n")
    (tmp_path / "memory.stat").write_text("anon 5\nactive_file 9\ninactive_file 20000\n")
    assert (available_memory(), memory_limit()) == (50000, 100000)
    (tmp_path / "memory.max").write_text("max\n")
    assert available_memory() > 50000


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the limits of a process")
def test_a_limit_of_the_process_counts():
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (2**32, 2**32))\n"
        "from orthonmf.engine.memory import available_memory, memory_limit\n"
        "assert 0 < available_memory() < memory_limit() <= 2**32"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_is_needed_is_compared_and_told_with_a_remedy():
    refuse_beyond_memory(2**24, "the result", "ask for less")
    with pytest.raises(TooLargeError, match=r"the result takes about 1 EB, but .* ask for less"):
        refuse_beyond_memory(10**18, "the result", "ask for less")
