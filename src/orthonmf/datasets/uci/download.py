"""Downloads: by pooch, into a folder that is gone when the files have been read."""

from __future__ import annotations

import logging
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from orthonmf.datasets.uci.catalog import Entry, Original
from orthonmf.errors import OrthoNMFError
from orthonmf.extras import import_extra
from orthonmf.files.archive import DAMAGE
from orthonmf.progress import announce


class DownloadError(OrthoNMFError, OSError):
    """A file could not be had from its address; the message says how to bring it by hand."""


@contextmanager
def download(entry: Entry, folder: Path) -> Iterator[Path]:
    """A folder inside ``folder`` with the original files of a set, for as long as they are read.

    Nothing is kept: what is worth keeping goes into the cache, and a download that turned out to
    be something else must not be taken for the data the next time.
    """
    with tempfile.TemporaryDirectory(prefix=".orthonmf-download-", dir=folder) as name:
        place = Path(name)
        for original in (entry.data, entry.labels, entry.words):
            if original is not None:
                try:
                    _fetch(original, place)
                except (OSError, *DAMAGE) as error:
                    raise DownloadError(_message(original, folder, error)) from error
        yield place


def _fetch(original: Original, place: Path) -> None:
    """Bring one file into ``place``; an archive that holds several is downloaded once."""
    name = PurePosixPath(urlsplit(original.url).path).name
    if not (place / name).exists():
        announce(f"download of {original.url}")
        _retrieve(original.url, name, place)
    if name != original.name:
        with zipfile.ZipFile(place / name) as archive:
            if not _unpack(archive, original.name, place):
                held = ", ".join(archive.namelist()[:10])
                raise ValueError(f"the archive does not hold {original.name}; it holds {held}")


def _retrieve(url: str, name: str, place: Path) -> None:
    pooch = import_extra("pooch", "data")
    logger: logging.Logger = pooch.get_logger()
    level = logger.level
    # Without a checksum pooch advises to note the one it found, which would prove nothing.
    logger.setLevel(logging.WARNING)
    try:
        pooch.retrieve(url, known_hash=None, fname=name, path=place)
    except OSError as error:
        # A refusal such as 404 comes with a connection that nobody else closes.
        response = getattr(error, "response", None)
        if response is not None:
            response.close()
        raise
    finally:
        logger.setLevel(level)


def _unpack(archive: zipfile.ZipFile, name: str, place: Path) -> bool:
    """Unpack the file of this name, from whichever folder of the archive or archive inside it."""
    for member in archive.namelist():
        if PurePosixPath(member).name == name:
            with archive.open(member) as packed, open(place / name, "wb") as file:
                shutil.copyfileobj(packed, file)
            return True
    for member in archive.namelist():
        if member.lower().endswith(".zip"):
            with archive.open(member) as nested, zipfile.ZipFile(nested) as inner:
                if _unpack(inner, name, place):
                    return True
    return False


def _message(original: Original, folder: Path, error: Exception) -> str:
    why = " ".join(str(error).split())[:300]
    return (
        f"{original.name} could not be had from {original.url}: {why}. "
        f"Bring the file by another way, put it into {folder} under this name and load again"
    )
