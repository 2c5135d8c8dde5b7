"""AnnData files with the results in them, where :func:`orthonmf.annotate` puts them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from orthonmf.annotation import parts_of
from orthonmf.extras import import_extra
from orthonmf.files.whole_files import writing_together
from orthonmf.report import Story

FRAMES = ("obs", "var")


def annotate(file: Path, folder: Path, story: Story) -> str:
    """Write the results into a copy of a file, which stands in the folder; returns its name."""
    h5py = import_extra("h5py", "files")
    write_elem = import_extra("anndata.io", "files").write_elem
    copy = f"{file.stem}.orthonmf.h5ad"
    parts = parts_of(story.result, stability=story.stability)
    with writing_together(folder) as place:
        path = place(copy)
        shutil.copyfile(file, path)
        with h5py.File(path, "r+") as target:
            for part in (part for part in parts if part not in (*target, *FRAMES)):
                write_elem(target, part, {})
            # Files of early versions hold tables in place of groups.
            for part in (part for part in parts if isinstance(target.get(part), h5py.Group)):
                for name, value in parts[part].items():
                    if _fits(target, part, value):
                        write_elem(target[part], name, value)
                        if part in FRAMES:
                            group = target[part].attrs  # where AnnData looks for all columns
                            listed = [str(column) for column in group.get("column-order", ())]
                            group["column-order"] = list(dict.fromkeys([*listed, name]))
    return copy


def _fits(target: Any, part: str, value: Any) -> bool:
    """Whether there is one entry per cell or gene; ``raw/X`` may have more genes than ``X``."""
    if part == "uns":
        return True
    frame = target.get(part[:3])  # obs for obsm, var for varm
    names = None if frame is None else frame.get(frame.attrs.get("_index", "_index"))
    if names is None:
        return True
    return len(import_extra("anndata.io", "files").read_elem(names)) == len(value)
