"""``orthonmf bicluster``: what it takes for a list of edges and what it says about it."""

TAKEN = "first line taken as header; --no-header to keep it"
WORDS = "ann,e1\nbob,e1\nbob,e2\neva,e2\n"


def test_the_command_says_what_it_decided(tmp_path, run):
    (tmp_path / "g.csv").write_text("woman;event\n" + WORDS.replace(",", ";"))
    done = run("bicluster", "g.csv", "--seed", 0, code=0)
    assert done.out.startswith("g.csv: 3 rows, 2 columns\n")
    assert done.err == f"orthonmf: note: g.csv: {TAKEN}\n"
    kept = run("bicluster", "g.csv", "--no-header")
    assert (kept.out.splitlines()[0], kept.err) == ("g.csv: 4 rows, 3 columns", "")


def test_the_command_says_what_it_makes_of_weights(tmp_path, run):
    (tmp_path / "g.csv").write_text("ann,tea,3\nbob,tea,1\n")
    done = run("bicluster", "g.csv", "--format", "edges", code=0)
    assert "weights above 0 are edges; --binarize T" in done.err
    assert run("bicluster", "g.csv", "--format", "edges", "--binarize", 2).err == ""
