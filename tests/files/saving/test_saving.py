"""A file is written whole or not at all: what fails or is killed leaves the older one."""

import os
import signal
import subprocess
import sys
from dataclasses import replace

import pytest

import orthonmf
from orthonmf import load, save
from orthonmf.files import whole_files
from tests.files.saving.test_save_and_load import assert_same, factorized


def test_errors_of_the_system_stay_what_they_are(tmp_path):
    result, _ = factorized()
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "absent.npz")
    with pytest.raises(FileNotFoundError):
        save(result, tmp_path / "absent" / "x.npz")
    with pytest.raises(IsADirectoryError):
        save(result, tmp_path)
    with pytest.raises(OSError):  # noqa: PT011  (which one depends on the system)
        load(tmp_path)


# A file may grow to a megabyte: the kernel kills who writes more, in the middle of the write.
WRITER = """
import resource
import signal
import sys
from dataclasses import replace
import numpy as np
from orthonmf.files.saving import load, save
result = load(sys.argv[1])
rng = np.random.default_rng(0)
wide = rng.random((3, 200_000))
wide /= np.linalg.norm(wide, axis=1, keepdims=True)
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, 2**20))
save(replace(result, components=wide), sys.argv[1])
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs SIGXFSZ")
def test_killed_while_writing_the_old_file_is_intact(tmp_path):
    result, _ = factorized()
    path = tmp_path / "x.npz"
    save(result, path)
    done = subprocess.run([sys.executable, "-c", WRITER, str(path)], check=False)
    assert done.returncode == -signal.SIGXFSZ
    assert [entry.stat().st_size for entry in leftovers(tmp_path)] == [2**20]
    assert_same(load(path), result)
    save(result, path)
    assert list(tmp_path.iterdir()) == [path]


def leftovers(folder):
    return [entry for entry in folder.iterdir() if entry.name.endswith(whole_files.TEMPORARY)]


def test_what_could_not_be_loaded_is_not_written_and_an_older_file_stays(tmp_path):
    result, _ = factorized("both")
    path = tmp_path / "model.npz"
    orthonmf.save(result, path)
    before = path.read_bytes()
    overlapping = result.components + 1e-16
    with pytest.raises(orthonmf.OrthoNMFError, match="could not be loaded"):
        orthonmf.save(replace(result, components=overlapping), path)
    assert path.read_bytes() == before
