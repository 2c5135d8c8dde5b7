"""Ways to damage a file: at random, but the same for the same random numbers."""

import gzip
import json
import re
import struct
import zipfile
import zlib

import numpy as np

from tests.files.making import npy, packed, unpacked

NASTY_NUMBERS = [
    b"5E", b"5E+", b"-", b"1e999", b"-1e999", b"1e999-1", b"1_000", b"-1", b"0", b"nan", b"inf",
    b"", b".", b"1.5.5", b"0x10", b"1e-400", b"99999999999999999999", b"4294967296", b"2147483648",
    b"9" * 400, b"9223372036854775807", b"-9223372036854775808", b"1,5", b"\xd9\xa3", b"\x00",
    b"1L", b"1000000", b"(1", b"Infinity", b"true", b"1e18",
]  # fmt: skip
NASTY_INTEGERS = [0, 1, 2, 0x7F, 0xFF, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**40]
NASTY_INTEGERS += [2**63 - 1, 2**63, 2**64 - 1]
NASTY_VALUES = [
    None, True, False, 0, -1, 1.5, 1e308, 10**30, 10**400, "", "x", "\0", "../../x", "1", [], {},
    [[]], {"a": 1}, float("nan"), float("inf"), "9" * 50, 2**63, "<U9999999", "pickle", [1, 2, 3],
]  # fmt: skip
# What HDF5 does with damage inside its own structures is its own matter: see SECURITY.md.
ONLY_CUT = ("h5", "h5ad")
NUMBER = re.compile(rb"[-+]?\d[\d.eE+-]*")


def mutated(content, others, rng, format=None):
    """The content after one to three changes; ``others`` are of the same format."""
    changes = [cut] if format in ONLY_CUT else CHANGES
    for _ in range(int(rng.choice([1, 1, 1, 2, 3]))):
        change = changes[int(rng.integers(len(changes)))]
        content = change(content, others, rng)
    return content


def anywhere(content, rng):
    return int(rng.integers(len(content) + 1))


def flip(content, others, rng):
    if not content:
        return content
    changed = bytearray(content)
    for _ in range(int(rng.integers(1, 9))):
        changed[int(rng.integers(len(changed)))] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def cut(content, others, rng):
    return content[: anywhere(content, rng)]


def drop(content, others, rng):
    start, end = sorted((anywhere(content, rng), anywhere(content, rng)))
    return content[:start] + content[min(end, start + 64) :]


def repeat(content, others, rng):
    start, end = sorted((anywhere(content, rng), anywhere(content, rng)))
    times = int(rng.integers(2, 40))
    return content[:start] + content[start : min(end, start + 256)] * times + content[end:]


def insert(content, others, rng):
    place = anywhere(content, rng)
    return content[:place] + rng.bytes(int(rng.integers(1, 17))) + content[place:]


def splice(content, others, rng):
    other = others[int(rng.integers(len(others)))]
    return content[: anywhere(content, rng)] + other[anywhere(other, rng) :]


def enlarge(content, others, rng):
    """A number of one to eight bytes, as lengths and counts are kept, becomes another."""
    size = int(rng.choice([1, 2, 4, 8]))
    if len(content) < size:
        return content
    place = int(rng.integers(len(content) - size + 1))
    number = NASTY_INTEGERS[int(rng.integers(len(NASTY_INTEGERS)))] % 2 ** (8 * size)
    order = "little" if rng.integers(4) else "big"
    return content[:place] + number.to_bytes(size, order) + content[place + size :]


def renumber(content, others, rng):
    """A number written as text becomes one that is hard to read."""
    spans = [match.span() for match in NUMBER.finditer(content[:100_000])]
    if not spans:
        return enlarge(content, others, rng)
    start, end = spans[int(rng.integers(len(spans)))]
    return content[:start] + NASTY_NUMBERS[int(rng.integers(len(NASTY_NUMBERS)))] + content[end:]


def within(content, others, rng):
    """What is packed is unpacked, changed and packed again, so that all checksums fit."""
    if content.startswith(b"PK\x03\x04"):
        return _within_zip(content, others, rng)
    if content.startswith(b"\x1f\x8b"):
        try:
            inner = gzip.decompress(content)
        except (OSError, EOFError, zlib.error, struct.error):
            return flip(content, others, rng)
        return gzip.compress(mutated(inner, [inner], rng), mtime=0)
    return _within_json(content, others, rng)


def _within_zip(content, others, rng):
    try:
        members = unpacked(content)
    except Exception:
        return flip(content, others, rng)
    if not members:
        return content
    name = sorted(members)[int(rng.integers(len(members)))]
    if not rng.integers(8):
        del members[name]
    elif name == "header.npy" and rng.integers(4):
        members[name] = _with_text(members[name], rng)
    else:
        members[name] = mutated(members[name], list(members.values()), rng)
    how = zipfile.ZIP_DEFLATED if rng.integers(2) else zipfile.ZIP_STORED
    return packed(members, how)


def _with_text(array, rng):
    """An archive's JSON header with another value in it, its length told as it is."""
    start = 10 + int.from_bytes(array[8:10], "little")
    return npy(np.frombuffer(_within_json(array[start:], [array], rng), dtype=np.uint8))


def _within_json(content, others, rng):
    lines = content.split(b"\n") if content.count(b"}\n") > 1 else [content]
    chosen = int(rng.integers(len(lines)))
    try:
        value = json.loads(lines[chosen])
    except (ValueError, RecursionError):
        return renumber(content, others, rng)
    places = list(_places(value))
    if not places:
        return renumber(content, others, rng)
    container, key = places[int(rng.integers(len(places)))]
    if not rng.integers(6):
        del container[key]
    else:
        container[key] = NASTY_VALUES[int(rng.integers(len(NASTY_VALUES)))]
    lines[chosen] = json.dumps(value).encode()
    return b"\n".join(lines)


def _places(value):
    """Every container in a JSON value with every key it has."""
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])


CHANGES = [flip, flip, cut, drop, repeat, insert, splice, enlarge, enlarge, renumber]
CHANGES += [within, within, within]
