"""What memory is left, and the refusal of what needs more."""

from orthonmf.engine import memory
from orthonmf.engine.memory import available_memory, memory_limit


def test_the_limit_of_a_container_counts_with_its_caches_given_back(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "CONTROL_GROUP", tmp_path)
    (tmp_path / "memory.max").write_text("100000\n")
    (tmp_path / "memory.current").write_text("70000\n")
    (tmp_path / "memory.stat").write_text("anon 5\nactive_file 9\ninactive_file 20000\n")
    assert (available_memory(), memory_limit()) == (50000, 100000)
    (tmp_path / "memory.max").write_text("max\n")
    assert available_memory() > 50000
