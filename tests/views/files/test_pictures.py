"""A picture that is written and read again has the same pixels; what a file cannot hold is said before."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lowdim.errors import BadFile, BadInput, BadParameter
from lowdim.sources.formats.pictures import read_picture
from lowdim.views.files.pictures import write_picture

RNG = np.random.default_rng(0)


def pixels(dtype: str, *shape: int) -> np.ndarray:
    if dtype.startswith("float"):
        return RNG.random(shape).astype(dtype)
    return RNG.integers(0, np.iinfo(dtype).max, shape, dtype=dtype, endpoint=True)


@pytest.mark.parametrize("ending", ["png", "tif", "TIFF"])
@pytest.mark.parametrize(
    ("dtype", "shape"),
    [("uint8", (7, 5)), ("uint8", (7, 5, 2)), ("uint8", (7, 5, 3)), ("uint8", (7, 5, 4)), ("uint16", (7, 5))],
)
def test_every_bit_comes_back(tmp_path, ending, dtype, shape):
    written, path = pixels(dtype, *shape), tmp_path / f"a.{ending}"
    write_picture(path, written)
    read = read_picture(path)
    assert read.dtype == written.dtype
    np.testing.assert_array_equal(read, written)


@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_tiff_takes_other_grey_pixels(tmp_path, dtype):
    written = pixels(dtype, 7, 5)
    write_picture(tmp_path / "a.tif", written)
    np.testing.assert_array_equal(read_picture(tmp_path / "a.tif"), written)


@pytest.mark.parametrize("shape", [(32, 24), (32, 24, 3)])
def test_jpeg_is_near(tmp_path, shape):
    smooth = np.add.outer(np.arange(32), 3 * np.arange(24)).astype(np.uint8)
    written = smooth if len(shape) == 2 else np.stack([smooth] * 3, axis=2)
    write_picture(tmp_path / "a.jpg", written)
    # quality 95 rounds coefficients to a few grey levels
    assert np.abs(read_picture(tmp_path / "a.jpg").astype(int) - written).max() <= 4


@pytest.mark.parametrize(
    ("name", "dtype", "shape", "error", "said"),
    [
        ("a.gif", "uint8", (4, 4), BadParameter, r"ending in \.gif are not written"),
        ("a", "uint8", (4, 4), BadParameter, "ending in nothing"),
        ("a.jpg", "uint16", (4, 4), BadInput, r"JPEG files do not take uint16 pixels here; write a \.tif"),
        ("a.png", "uint16", (4, 4, 3), BadInput, "uint16 pixels in 3 channels"),
        ("a.png", "float64", (4, 4), BadInput, "make them uint8"),
        ("a.jpg", "uint8", (4, 4, 4), BadInput, "no alpha"),
    ],
)
def test_what_a_file_does_not_hold_is_said_and_nothing_written(tmp_path, name, dtype, shape, error, said):
    with pytest.raises(error, match=said):
        write_picture(tmp_path / name, pixels(dtype, *shape))
    assert not list(tmp_path.iterdir())


def test_palettes_and_bits_become_colours_and_grey(tmp_path):
    Image.fromarray(pixels("uint8", 6, 6, 3)).convert("P").save(tmp_path / "p.png")
    assert read_picture(tmp_path / "p.png").shape == (6, 6, 3)
    Image.fromarray(pixels("uint8", 6, 6) > 99).save(tmp_path / "bits.png")
    assert set(np.unique(read_picture(tmp_path / "bits.png"))) == {0, 255}


def test_pictures_are_upright(tmp_path):
    lying, turned = Image.fromarray(pixels("uint8", 4, 6)), Image.Exif()
    turned[0x0112] = 6  # "turn me by 90° to the right", as cameras write
    lying.save(tmp_path / "a.png", exif=turned)
    np.testing.assert_array_equal(read_picture(tmp_path / "a.png"), np.rot90(np.asarray(lying), -1))


def deep_colours(kind: str) -> bytes:
    """A 2 × 2 picture in colours of 16 bits, PNG or TIFF, byte by byte: Pillow does not write such."""
    rows = np.arange(12, dtype=">u2").reshape(2, 6) * 5000
    if kind == "png":

        def chunk(name: bytes, data: bytes) -> bytes:
            return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

        head = struct.pack(">IIBBBBB", 2, 2, 16, 2, 0, 0, 0)
        body = zlib.compress(b"".join(b"\0" + row.tobytes() for row in rows))
        return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")
    start = 8 + 2 + 9 * 12 + 4
    entries = [(256, 3, 1, 2 << 16), (257, 3, 1, 2 << 16), (258, 3, 3, start), (259, 3, 1, 1 << 16)]
    entries += [(262, 3, 1, 2 << 16), (273, 4, 1, start + 6), (277, 3, 1, 3 << 16), (278, 3, 1, 2 << 16)]
    entries += [(279, 4, 1, 24)]
    fields = b"".join(struct.pack(">HHII", *entry) for entry in entries)
    return b"MM\0*" + struct.pack(">IH", 8, 9) + fields + bytes(4) + struct.pack(">HHH", 16, 16, 16) + rows.tobytes()


@pytest.mark.parametrize("kind", ["png", "tif"])
def test_deep_colours_are_refused_rather_than_halved(tmp_path: Path, kind: str) -> None:
    (tmp_path / f"a.{kind}").write_bytes(deep_colours(kind))
    with pytest.raises(BadFile, match="16 bits a colour"):
        read_picture(tmp_path / f"a.{kind}")


def test_other_colours_are_refused(tmp_path):
    Image.new("CMYK", (4, 4)).save(tmp_path / "a.tif")
    with pytest.raises(BadFile, match="CMYK, but grey or RGB"):
        read_picture(tmp_path / "a.tif")
