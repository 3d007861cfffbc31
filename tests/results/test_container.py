"""The strict reader of model files: whatever is wrong with a file, one kind of error, and never a wrong model."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

import lowdim
from harness import Tally, many
from lowdim.errors import BadParameter, FormatError, TooLarge
from lowdim.models.base.output import overview_of
from lowdim.models.base.saving import load_shown, pack, unpack
from lowdim.results.container import Stored, from_bytes, open_document, read_document, to_bytes


def fitted() -> lowdim.PCA:
    foods = lowdim.datasets.uk_foods()
    return lowdim.PCA(2, scale=True, column_weight=np.arange(1.0, 18)).fit(foods.values)


@pytest.fixture(scope="module")
def good() -> bytes:
    return to_bytes(pack(fitted()))


def split(data: bytes) -> tuple[dict, bytes]:
    length = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + length]), data[8 + length :]


def joined(header: object, arrays: bytes) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + arrays


def test_safetensors_itself_reads_the_arrays(good: bytes) -> None:
    arrays = safetensors.numpy.load(good)
    np.testing.assert_array_equal(arrays["components"], fitted().components_)


def without(header: dict, name: str) -> dict:
    return {key: value for key, value in header.items() if key != name}


def described(header: dict, name: str, **changes: object) -> dict:
    return {**header, name: {**header[name], **changes}}


def changed_text(header: dict, **changes: object) -> dict:
    text = json.dumps({**json.loads(header["__metadata__"]["lowdim"]), **changes})
    return {**header, "__metadata__": {"lowdim": text, "sha256": hashlib.sha256(text.encode()).hexdigest()}}


BROKEN = {
    "empty": lambda h, a: b"",
    "nine bytes": lambda h, a: b"123456789",
    "a pickle": lambda h, a: b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x94.",
    "a zip file": lambda h, a: b"PK\x03\x04" + bytes(100),
    "truncated in the header": lambda h, a: joined(h, a)[:300],
    "truncated in the arrays": lambda h, a: joined(h, a)[:-1],
    "one byte more": lambda h, a: joined(h, a) + b"\0",
    "header of 2^62 bytes": lambda h, a: (2**62).to_bytes(8, "little") + joined(h, a)[8:],
    "header above 1 MB": lambda h, a: joined(json.dumps(h).encode() + b" " * 1_000_000, a),
    "no JSON": lambda h, a: joined(b"{" * 1000, a),
    "deep JSON": lambda h, a: joined(b"[" * 200_000, a),
    "a list": lambda h, a: joined([], a),
    "not UTF-8": lambda h, a: joined(b'{"\xff": 1}', a),
    "a name twice": lambda h, a: joined(json.dumps(h).encode()[:-1] + b',"mean":{}}', a),
    "no metadata": lambda h, a: joined(without(h, "__metadata__"), a),
    "empty metadata": lambda h, a: joined({**h, "__metadata__": {}}, a),
    "metadata of another program": lambda h, a: joined({**h, "__metadata__": {"format": "pt"}}, a),
    "text is no text": lambda h, a: joined({**h, "__metadata__": {"lowdim": 1, "sha256": ""}}, a),
    "sum of the text wrong": lambda h, a: joined({**h, "__metadata__": {**h["__metadata__"], "sha256": "0" * 64}}, a),
    "text changed": lambda h, a: joined(
        {**h, "__metadata__": {**h["__metadata__"], "lowdim": h["__metadata__"]["lowdim"].replace("0", "1")}}, a
    ),
    "format 2": lambda h, a: joined(changed_text(h, format=2), a),
    "format true": lambda h, a: joined(changed_text(h, format=True), a),
    "unknown kind": lambda h, a: joined(changed_text(h, kind="os.system"), a),
    "no facts": lambda h, a: joined(changed_text(h, facts={}), a),
    "facts with NaN": lambda h, a: joined(changed_text(h, facts=float("nan")), a),
    "more in the text": lambda h, a: joined(changed_text(h, more=1), a),
    "array missing": lambda h, a: joined(without(h, "mean"), a),
    "array of another name": lambda h, a: joined({**without(h, "mean"), "meen": h["mean"]}, a),
    "overlap": lambda h, a: joined(described(h, "mean", data_offsets=h["scale"]["data_offsets"]), a),
    "hole": lambda h, a: joined(h, bytes(8) + a),
    "negative place": lambda h, a: joined(described(h, "mean", data_offsets=[-8, 128]), a),
    "place is text": lambda h, a: joined(described(h, "mean", data_offsets=["0", "1"]), a),
    "shape of 2^60": lambda h, a: joined(described(h, "mean", shape=[2**60]), a),
    "negative shape": lambda h, a: joined(described(h, "mean", shape=[-17]), a),
    "three axes": lambda h, a: joined(described(h, "mean", shape=[17, 1, 1]), a),
    "boolean shape": lambda h, a: joined(described(h, "mean", shape=[True]), a),
    "float16": lambda h, a: joined(described(h, "mean", dtype="F16"), a),
    "int64 for float64": lambda h, a: joined(described(h, "mean", dtype="I64"), a),
    "dtype is a list": lambda h, a: joined(described(h, "mean", dtype=[]), a),
    "more about an array": lambda h, a: joined(described(h, "mean", order="F"), a),
    "array is no description": lambda h, a: joined({**h, "mean": 3}, a),
    "100,000 empty arrays": lambda h, a: joined(
        {f"a{i}": {"dtype": "F64", "shape": [0], "data_offsets": [0, 0]} for i in range(10_000)}, a
    ),
    "a bit flipped": lambda h, a: joined(h, bytes([a[0] ^ 1]) + a[1:]),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_refused(name: str, good: bytes, tmp_path: Path) -> None:
    path = tmp_path / "broken.lowdim"
    path.write_bytes(BROKEN[name](*split(good)))
    with pytest.raises(FormatError) as caught:
        lowdim.load(path)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("where", ["nowhere.lowdim", ".", "/dev/null"])
def test_what_is_no_file_is_refused(where: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"cannot be read|not a file|only 0 bytes"):
        lowdim.load(tmp_path / where)


def test_facts_that_no_fit_can_have_are_refused(good: bytes) -> None:
    header, arrays = split(good)
    facts = json.loads(header["__metadata__"]["lowdim"])["facts"]
    for path, value in [
        (("fit", "n_components"), 0),
        (("fit", "n_components"), 3),
        (("fit", "n_rows"), -1),
        (("fit", "weight"), 0),
        (("fit", "certificate", "null"), [99]),
        (("fit", "certificate", "captured"), [0.5]),
        (("fit", "provenance", "data"), 3),
        (("params", "whiten"), "yes"),
        (("params", "n_components"), [2]),
        (("seen", "itemsize"), 3),
        (("seen", "frame"), "os"),
        (("seen", "spacing"), 1),
    ]:
        changed = json.loads(json.dumps(facts))
        place = changed
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        with pytest.raises(FormatError):
            unpack(from_bytes(joined(changed_text(header, facts=changed), arrays)))


def mutated(data: bytes, rng: np.random.Generator) -> bytes:
    """Flip, set, cut, repeat or move a few bytes; most of them in the header, which is where a reader goes wrong."""
    made = bytearray(data)
    header = 8 + int.from_bytes(data[:8], "little")
    for _ in range(rng.integers(1, 5)):
        at = int(rng.integers(0, header if rng.random() < 0.8 else len(made)))
        at = min(at, len(made) - 1)
        kind = rng.integers(0, 5)
        if kind == 0:
            made[at] ^= 1 << int(rng.integers(0, 8))
        elif kind == 1:
            made[at] = int(rng.integers(0, 256))
        elif kind == 2:
            del made[at : at + int(rng.integers(1, 9))]
        elif kind == 3:
            made[at:at] = made[at : at + int(rng.integers(1, 9))]
        else:
            made[at : at + 1] = rng.choice([b"0", b"9", b"-1", b"1e999", b"null", b"[", b'"', b"NaN", b"\xff"])
        if not made:
            return b""
    return bytes(made)


def survive(count: int, files: list[bytes], seed: int) -> int:
    """Read `count` mutations of these files; a loaded one must be the model that was written."""
    rng = np.random.default_rng(seed)
    whole = {data: to_bytes(pack(unpack(from_bytes(data)))) for data in files}
    loaded = 0
    for number in range(count):
        data = files[number % len(files)]
        try:
            model = unpack(from_bytes(mutated(data, rng)))
        except FormatError:
            continue
        loaded += 1
        assert to_bytes(pack(model)) == whole[data]
    return loaded


@pytest.fixture(scope="module")
def golden() -> list[bytes]:
    """Files of every kind, of this version and of earlier ones."""
    folder = Path(__file__).parents[1] / "golden" / "files"
    return [path.read_bytes() for path in sorted(folder.iterdir()) if "checkpoint" not in path.name]


def test_mutated_files_never_give_another_error_or_another_model(golden: list[bytes], tally: Tally) -> None:
    tally(5, 3_000, "model files, bytes changed")
    survive(3_000, golden, seed=0)


@pytest.mark.slow
def test_many_mutated_files(golden: list[bytes], tally: Tally) -> None:
    count = many(slow=100_000, full=1_000_000)
    tally(5, count, "model files, bytes changed")
    survive(count, golden, seed=1)


STRANGE = [None, True, -1, 0, 3, 2**63, 1e-320, 1e307, "", "auto", "x" * 10_000, [], [0], [[]], {}, {"a": 1}, [None, 1]]


def scrambled(value: object, rng: np.random.Generator) -> object:
    """Facts with one leaf or branch replaced by something strange."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(sorted(value))
        return {**value, key: scrambled(value[key], rng)}
    return STRANGE[rng.integers(len(STRANGE))]


def test_facts_of_a_liar_with_right_sums_give_no_other_error(good: bytes) -> None:
    header, arrays = split(good)
    facts = json.loads(header["__metadata__"]["lowdim"])["facts"]
    rng = np.random.default_rng(2)
    refused = 0
    for _ in range(3_000):
        data = joined(changed_text(header, facts=scrambled(facts, rng)), arrays)
        try:
            model = unpack(from_bytes(data))
        except FormatError:
            refused += 1
            continue
        assert model.transform(np.zeros((1, 17))).shape == (1, 2)
    assert refused > 1_500


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.lowdim"
    model = fitted()
    model.save(path)
    before = path.read_bytes()
    steps = {"fsync": 2, "replace": 1}
    for name, times in steps.items():
        for number in range(times):
            real, calls = getattr(os, name), []

            def failing(*args: object, real=real, calls=calls, number=number) -> object:
                calls.append(args)
                if len(calls) == number + 1:
                    raise OSError(28, "No space left on device")
                return real(*args)

            with monkeypatch.context() as patch:
                patch.setattr(os, name, failing)
                with suppress(OSError):  # the last one, of the folder, is forgiven: the file is there by then
                    model.save(path)
            assert path.read_bytes() == before  # the same model: written again or left alone
            assert [entry.name for entry in tmp_path.iterdir()] == ["model.lowdim"]


def test_left_over_parts_are_swept(tmp_path: Path) -> None:
    old, young = tmp_path / ".a.1.lowdim-part", tmp_path / ".b.2.lowdim-part"
    old.touch()
    young.touch()
    os.utime(old, (0, 0))
    fitted().save(tmp_path / "model.lowdim")
    assert not old.exists()
    assert young.exists()


def test_a_link_keeps_pointing_and_permissions_stay(tmp_path: Path) -> None:
    target, link = tmp_path / "target.lowdim", tmp_path / "link.lowdim"
    target.touch(mode=0o640)
    link.symlink_to(target)
    fitted().save(link)
    assert link.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o640
    assert read_document(target).kind == "PCA"


# -- what a reader may take --------------------------------------------------------------------------------------------

MEASURED = """
import resource, sys, time
import numpy as np, lowdim
from lowdim.models.base.saving import unpack
before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
try:
    lowdim.load(sys.argv[1])
except lowdim.errors.LowdimError as error:
    print(type(error).__name__, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def claiming(data: bytes, path: Path, size: int) -> None:
    """A file that says to hold so many bytes of zeros as its last array, and takes none of a disk."""
    header, arrays = split(data)
    last = max(without(header, "__metadata__"), key=lambda name: header[name]["data_offsets"][0])
    begin = header[last]["data_offsets"][0]
    header = described(header, last, shape=[size // 8], data_offsets=[begin, begin + size // 8 * 8])
    made = joined(header, arrays[:begin])
    path.write_bytes(made)
    os.truncate(path, len(made) + size // 8 * 8)


@pytest.mark.parametrize("claims", ["nothing", "an array"])
def test_a_file_of_4_gb_is_refused_by_what_it_claims(claims: str, good: bytes, tmp_path: Path, tally: Tally) -> None:
    path = tmp_path / "x.lowdim"
    if claims == "nothing":
        path.touch()
        os.truncate(path, 4 * 2**30)
    else:
        claiming(good, path, 4 * 2**30)
    ended = subprocess.run([sys.executable, "-c", MEASURED, str(path)], capture_output=True, text=True, check=True)
    error, kilobytes = ended.stdout.split()
    assert error == ("FormatError" if claims == "nothing" else "TooLarge")
    assert int(kilobytes) < 20_000  # the header and what Python makes of it are 20 times less
    tally(17, f"{int(kilobytes) / 1000:.1f} MB", f"more memory for a model file of 4 GB that claims {claims}")


def test_more_may_be_allowed(tmp_path: Path, good: bytes) -> None:
    path = tmp_path / "x.lowdim"
    path.write_bytes(good)
    with pytest.raises(TooLarge, match="memory="):
        lowdim.load(path, memory=1000)
    assert lowdim.load(path, memory="1MB").n_components_ == 2
    with pytest.raises(BadParameter, match="memory"):
        lowdim.load(path, memory="much")


def read_after(path: Path, change: Callable[[], object]) -> None:
    """Open a file, change it, and read what was opened."""
    with open_document(path) as document:
        change()
        unpack(document)


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path, good: bytes) -> None:
    path = tmp_path / "x.lowdim"
    for change in (
        lambda: path.write_bytes(good + b"x"),
        lambda: path.write_bytes(good[:-8] + b"12345678"),
        lambda: path.write_bytes(good[:-1]),
        lambda: os.utime(path, (1, 1)),
    ):
        path.write_bytes(good)
        with pytest.raises(FormatError, match=r"changed|damaged"):
            read_after(path, change)


def test_what_info_does_not_show_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.lowdim"
    X = np.random.default_rng(0).standard_normal((300, 150))
    model = lowdim.PCA(2).fit(X)
    model.save(path)
    read: list[str] = []
    real = Stored.read
    monkeypatch.setattr(Stored, "read", lambda stored: read.append(stored.name) or real(stored))
    shown = load_shown(path)
    assert "moments_scatter" not in read
    assert repr(shown) == repr(model)


def test_info_says_the_same_of_every_kind(golden: list[bytes], tmp_path: Path) -> None:
    path = tmp_path / "x.lowdim"
    for data in golden:
        path.write_bytes(data)
        shown, whole = load_shown(path), lowdim.load(path)
        assert repr(overview_of(shown.fit_).details()) == repr(overview_of(whole.fit_).details())
        assert repr(shown) == repr(whole)


def test_a_pipe_without_a_writer_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.lowdim")
    with pytest.raises(FormatError, match="not a file"):
        lowdim.load(tmp_path / "x.lowdim")


def test_a_name_that_no_file_can_have() -> None:
    with pytest.raises(FormatError, match="no file can have that name"):
        lowdim.load("a\0b.lowdim")
