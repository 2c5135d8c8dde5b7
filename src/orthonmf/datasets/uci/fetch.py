"""From the name of a set to its content: the cache, an original next to it, or a download."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from orthonmf.datasets.uci.cache import compact, read_cache, write_cache
from orthonmf.datasets.uci.catalog import Entry, Original
from orthonmf.datasets.uci.download import download
from orthonmf.datasets.uci.record import Content
from orthonmf.errors import InvalidInputError
from orthonmf.files.readers import FileError, default_max_bytes, read_names
from orthonmf.files.readers.record import Request


def fetch(entry: Entry, folder: Path) -> Content:
    """The content of a set, which is verified; afterwards it is in the cache.

    A cached file is used as it is. Otherwise the originals are read where somebody put them into
    the folder, or downloaded; only those that were downloaded are ever deleted.
    """
    cache = folder / entry.cache_name
    if cache.exists():
        return _add_words(read_cache(cache, entry), entry, folder)
    _check_writable(folder, entry)
    placed = (folder / entry.data.name).exists()
    content = _read_placed(entry, folder) if placed else _read_downloaded(entry, folder)
    write_cache(cache, content)
    return content


def _read_placed(entry: Entry, folder: Path) -> Content:
    try:
        return _add_words(_parse(entry, folder, shown_in=folder), entry, folder)
    except FileError as error:
        raise FileError(f"{error}; put the right file there, or remove it to download") from error


def _read_downloaded(entry: Entry, folder: Path) -> Content:
    with download(entry, folder) as place:
        try:
            return _add_words(_parse(entry, place, shown_in=Path()), entry, place)
        except FileError as error:
            raise FileError(
                f"{error}. It came from {entry.data.url} and has been deleted; load again to "
                f"repeat the download, or put the right file into {folder}"
            ) from error


def _parse(entry: Entry, place: Path, shown_in: Path) -> Content:
    """The originals that lie in ``place``, verified; messages call them by ``shown_in``."""

    def request(original: Original) -> Request:
        path = place / original.name
        shown = shown_in / original.name
        if not path.exists():
            raise FileError(f"{shown}: it is missing; it belongs to {entry.data.name}")
        return Request(path, str(shown), max_bytes=default_max_bytes())

    data = request(entry.data)
    content = entry.read(data, entry.shape)
    if wrong := entry.find_differences(content.X):
        raise data.error(f"this is not {entry.name}: {', '.join(wrong)}")
    if entry.labels is not None and entry.read_labels is not None:
        y = entry.read_labels(request(entry.labels), entry.shape[0])
        content = replace(content, y=y)
    return compact(content)


def _add_words(content: Content, entry: Entry, place: Path) -> Content:
    """Names of columns from the list next to the data, if it is there and they have none."""
    if content.feature_names is not None or entry.words is None:
        return content
    path = place / entry.words.name
    if not path.exists():
        return content
    return replace(content, feature_names=read_names(path, entry.shape[1], "columns"))


def _check_writable(folder: Path, entry: Entry) -> None:
    """Refuse a folder that cannot take the cache, before anything is read or downloaded."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InvalidInputError(
            f"{entry.cache_name} is not in {folder}, and nothing can be written there "
            f"({error.strerror or error}): name another folder with data_home or "
            "ORTHONMF_DATA_HOME"
        ) from error
