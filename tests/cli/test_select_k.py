def test_a_column_of_ids_is_told_before_a_number_is_suggested(tmp_path, run, blocks):
    lines = ["id,a,b,c", *(f"{1000 + i},{x},{y},{z}" for i, (x, y, z) in enumerate(blocks[:, :3]))]
    (tmp_path / "x.csv").write_text("\n".join(lines))
    done = run("select-k", "x.csv", "--k", "2:3", "--no-index", "--repetitions", 1, "--seed", 0)
    assert done.out.startswith("caution: Column id counts by ones")
