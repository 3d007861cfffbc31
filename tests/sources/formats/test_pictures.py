"""A folder of pictures gives the pixels that were written, one row a picture; bad ones end in one sentence."""

from __future__ import annotations

import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import lowdim
from lowdim import PCA
from lowdim.errors import BadFile, BadParameter, LowdimError
from lowdim.sources.source import Source

RNG = np.random.default_rng(0)
GREY = RNG.integers(0, 256, (30, 6, 5), dtype=np.uint8)
COLOUR = RNG.integers(0, 256, (30, 6, 5, 3), dtype=np.uint8)
DEEP = RNG.integers(0, 65536, (30, 6, 5), dtype=np.uint16)
REAL = RNG.random((30, 6, 5), dtype=np.float32)


def rows_of(source: Source) -> np.ndarray:
    return np.concatenate([block.rows for block in source.blocks()])


def write(folder: Path, stack: np.ndarray, ending: str = "png", **settings: Any) -> Path:
    folder.mkdir(exist_ok=True)
    for i, pixels in enumerate(stack):
        Image.fromarray(pixels).save(folder / f"face {i:02}.{ending}", **settings)
    return folder


STACKS: dict[str, tuple[np.ndarray, str, dict[str, Any]]] = {
    "grey png": (GREY, "png", {}),
    "grey tif": (GREY, "TIFF", {}),
    "grey gif": (GREY, "gif", {}),
    "colour png": (COLOUR, "PNG", {}),
    "colour bmp": (COLOUR, "bmp", {}),
    "colour webp": (COLOUR, "webp", {"lossless": True}),
    "16-bit png": (DEEP, "png", {}),
    "16-bit tif": (DEEP, "tif", {"compression": "tiff_lzw"}),
    "float tif": (REAL, "tif", {}),
}


@pytest.mark.parametrize("name", STACKS)
def test_a_folder_gives_the_pixels_that_were_written(name: str, tmp_path: Path) -> None:
    stack, ending, settings = STACKS[name]
    folder = write(tmp_path / "faces", stack, ending, **settings)
    (folder / "notes.txt").write_text("not a picture")
    (folder / "._hidden.png").write_text("not a picture either")
    source = lowdim.open(folder)
    X = stack.reshape(30, -1)
    assert (source.n_rows, source.dtype, source.shape_of_rows) == (30, stack.dtype, stack.shape[1:])
    assert "pictures of 6 × 5" in source.describe()
    np.testing.assert_array_equal(rows_of(source), X)
    np.testing.assert_array_equal(rows_of(source), X)  # and once more
    model, known = PCA(2).fit(folder), PCA(2).fit(X)
    # float32 pictures are worked with in float32
    tolerance = 1e-5 if stack.dtype == np.float32 else 1e-10
    np.testing.assert_allclose(model.explained_variance_, known.explained_variance_, rtol=tolerance)
    np.testing.assert_allclose(model.transform(folder / f"face 03.{ending}"), known.transform(X[3:4]), rtol=1e-4)


def test_jpegs_are_what_pillow_makes_of_them(tmp_path: Path) -> None:
    folder = write(tmp_path / "faces", GREY, "jpg")
    expected = [np.asarray(Image.open(path)) for path in sorted(folder.iterdir())]
    np.testing.assert_array_equal(rows_of(lowdim.open(folder)), np.reshape(expected, (30, 30)))


def test_blocks_are_decoded_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write(tmp_path / "faces", GREY)
    opened: list[str] = []
    original = Image.open
    monkeypatch.setattr(Image, "open", lambda path, **more: opened.append(path.name) or original(path, **more))
    source = lowdim.open(folder, isolated="never").limited(7 * 30)
    assert len(opened) == 30  # their first bytes
    first = next(iter(source.blocks()))
    assert first.rows.shape == (7, 30)
    assert len(opened) == 37


def test_names_and_folders_are_kept_aside(tmp_path: Path) -> None:
    for kind, part in (("cats", GREY[:2]), ("dogs", GREY[2:5])):
        (tmp_path / "pets").mkdir(exist_ok=True)
        write(tmp_path / "pets" / kind, part)
    source = lowdim.open(tmp_path / "pets", label="folder")
    assert list(source.aside("folder")) == ["cats"] * 2 + ["dogs"] * 3
    assert list(source.aside("name"))[:3] == ["cats/face 00", "cats/face 01", "dogs/face 00"]
    assert list(source.after(2).aside("folder")) == ["dogs"] * 3
    assert list(lowdim.open(tmp_path / "pets" / "cats").aside("name")) == ["face 00", "face 01"]
    pattern = lowdim.open(str(tmp_path / "pets" / "*" / "face 00.png"))
    assert pattern.n_rows == 2
    with pytest.raises(BadParameter, match="did you mean 'folder'"):
        lowdim.open(tmp_path / "pets", label="foldr")
    with pytest.raises(BadParameter, match="is for tables"):
        lowdim.open(tmp_path / "pets", columns=["a"])
    with pytest.raises(BadParameter, match="sql"):
        lowdim.open(tmp_path / "pets", sql="select * from data")
    with pytest.raises(BadParameter, match="nothing to choose from"):
        lowdim.open(tmp_path / "pets", table="cats")


def test_colour_and_grey_together_become_grey(tmp_path: Path) -> None:
    folder = write(tmp_path / "mixed", GREY[:3])
    Image.fromarray(COLOUR[0]).save(folder / "z.png")
    source = lowdim.open(folder)
    assert source.shape_of_rows == (6, 5)
    np.testing.assert_array_equal(rows_of(source)[:3], GREY[:3].reshape(3, 30))
    np.testing.assert_array_equal(rows_of(source)[3], np.asarray(Image.fromarray(COLOUR[0]).convert("L")).ravel())


def test_transparency_is_left_out(tmp_path: Path) -> None:
    layered = np.concatenate([COLOUR, np.full((30, 6, 5, 1), 7, np.uint8)], axis=3)
    source = lowdim.open(write(tmp_path / "layered", layered))
    np.testing.assert_array_equal(rows_of(source), COLOUR.reshape(30, -1))


def test_a_picture_that_is_changed_after_opening_is_noticed(tmp_path: Path) -> None:
    source = lowdim.open(write(tmp_path / "faces", GREY))
    Image.fromarray(GREY[0, :3]).save(tmp_path / "faces" / "face 05.png")
    with pytest.raises(BadFile, match=r"face 05.png.*changed"):
        rows_of(source)


def test_a_package_that_is_not_there_is_named_with_its_remedy(tmp_path: Path) -> None:
    write(tmp_path / "faces", GREY[:2])
    opened = f"lowdim.open({str(tmp_path / 'faces')!r}, isolated='never')"
    code = f"import sys; sys.modules['PIL'] = None\nimport lowdim\n{opened}"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert 'pillow, which is not installed: pip install "lowdim[images]"' in answer.stderr.splitlines()[-1]


def bomb(path: Path, side: int = 50_000) -> None:
    """A small PNG that says it has 2.5 billion pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    packed = zlib.compress(bytes(1_000_000))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", packed) + chunk(b"IEND", b""))


def spoilt(spoil: Callable[[Path], Any]) -> Callable[[Path], None]:
    """A folder of good pictures of which one is spoilt."""

    def make(folder: Path) -> None:
        write(folder, GREY)
        spoil(folder / "face 07.png")

    return make


def cut(path: Path, share: float) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])


def frames(path: Path) -> None:
    first, *rest = [Image.fromarray(pixels) for pixels in GREY]
    first.save(path, format="TIFF", save_all=True, append_images=rest)


BAD: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "a picture of another size": ("folder", spoilt(lambda path: Image.fromarray(GREY[0, :5]).save(path))),
    "a picture of 16 bits among others": ("folder", spoilt(lambda path: Image.fromarray(DEEP[0]).save(path))),
    "an empty picture": ("folder", spoilt(lambda path: path.write_bytes(b""))),
    "a text called png": ("folder", spoilt(lambda path: path.write_text("hello"))),
    "a program called png": ("folder", spoilt(lambda path: path.write_text("%!PS-Adobe-3.0 EPSF-3.0\nshowpage"))),
    "a giant png": ("folder", spoilt(bomb)),
    "a large png": ("folder", spoilt(lambda path: bomb(path, 10_000))),
    "several frames": ("folder", spoilt(frames)),
    **{f"{s:.0%} of a png": ("folder", spoilt(lambda path, s=s: cut(path, s))) for s in (0.1, 0.4, 0.7)},
    "a single giant png": ("t.png", bomb),
    "a folder called png": ("t.png", lambda path: path.mkdir()),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_pictures_end_in_one_sentence_that_names_them(name: str, tmp_path: Path) -> None:
    filename, make = BAD[name]
    make(tmp_path / filename)
    with pytest.raises(LowdimError) as caught:
        PCA(1).fit(tmp_path / filename)
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    assert ("face 07.png" if filename == "folder" else filename) in message
