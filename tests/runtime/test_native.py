"""Declarations of kernels against the C, and what is refused before a call."""

from __future__ import annotations

import ctypes
import importlib
import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import lowdim
from lowdim.runtime import native
from lowdim.runtime.native import Kernel

PACKAGE = Path(lowdim.__file__).parent

SIGNATURE = re.compile(r"KERNEL\((\w+)\)\s*(NAMED\((\w+)\)|\w+)\s*\(([^)]*)\)\s*\{", re.S)

WORDS = {
    "double": "double",
    "float": "float",
    "int64": "int64_t",
    "int32": "int32_t",
    "int16": "int16_t",
    "bytes": "int8_t",
    "real": "REAL",
    "index": "INDEX",
    "small": "SMALL",
}
"""What declarations say → what C says."""


def declared() -> dict[str, tuple[Path, Kernel]]:
    """Every kernel, by its name, with the C file beside the one that declares it."""
    found = {}
    for path in sorted(PACKAGE.rglob("compiled_*.py")):
        module = importlib.import_module(".".join(["lowdim", *path.relative_to(PACKAGE).with_suffix("").parts]))
        for value in vars(module).values():
            if isinstance(value, Kernel):
                assert found.get(value.name, (path,))[0] in (path, path.with_suffix(".c")), (
                    f"{value.name} is declared twice"
                )
                found[value.name] = path.with_suffix(".c"), value
    return found


def written() -> dict[str, tuple[Path, str, list[str]]]:
    """Every exported function of the C files: its file, what it gives, and its arguments as C has them."""
    found = {}
    for path in sorted(PACKAGE.rglob("compiled_*.c")):
        for gives, plain, named, arguments in SIGNATURE.findall(path.read_text("utf-8")):
            words = [" ".join(word.replace("restrict", "").split()) for word in arguments.split(",")]
            found[(named or plain).removeprefix("lowdim_")] = path, gives, words
    return found


def in_c(kernel: Kernel) -> list[str]:
    """The arguments that C must have, from a declaration."""
    told = [f"Int {size}" for size in kernel.sizes]
    for one in kernel.arguments:
        if not one.sizes:
            told.append(f"{'Int' if one.kind == 'int' else 'double'} {one.name}")
            continue
        told.append(f"{'' if one.written else 'const '}{WORDS[one.kind]} *{one.name}")
        if one.has_step:
            told.append(f"Int {one.name}_step")
    return told


def test_every_declaration_is_what_c_has():
    python, c = declared(), written()
    assert set(python) == set(c)
    for name, (path, kernel) in python.items():
        where, gives, words = c[name]
        assert where == path
        assert gives == ("double" if kernel.gives else "void")
        assert words == in_c(kernel), name


@pytest.mark.skipif(not native.is_compiled(), reason="there are no kernels")
def test_every_kernel_is_in_every_library():
    levels = [level for level in native.LEVELS if native._file(level).exists()]
    assert levels == ["v4", "v3", "v2"] or levels == ["any"]
    endings = {"real": ("_f64", "_f32"), "index": ("_i64", "_i32"), "small": ("_i8", "_u8")}
    for level, (_, kernel) in itertools.product(levels, declared().values()):
        loaded = ctypes.CDLL(str(native._file(level)))
        for ending in itertools.product(*(endings[word] for word in kernel.is_templated)):
            assert getattr(loaded, f"lowdim_{kernel.name}{''.join(ending)}")


def level_with(asked: str) -> str:
    program = "from lowdim.runtime import native; print(native.level())"
    answer = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, "LOWDIM_CPU": asked},
        check=False,
    )
    return answer.stdout.strip() or answer.stderr.strip().splitlines()[-1]


@pytest.mark.skipif(not native._file("v2").exists(), reason="not an x86-64")
def test_the_level_is_what_the_machine_has_and_what_is_asked():
    best = native._level_of_machine()
    flags = Path("/proc/cpuinfo")
    if flags.exists():  # the system's own opinion
        words = set(re.search(r"flags\s*:(.*)", flags.read_text()).group(1).split())
        assert (best >= 3) == ({"avx2", "fma", "bmi2", "f16c", "abm", "movbe"} <= words)
        assert (best >= 4) == (best >= 3 and {"avx512f", "avx512dq", "avx512cd", "avx512bw", "avx512vl"} <= words)
    assert level_with("") == f"v{best}"
    for number in (2, 3, 4):
        assert level_with(f"v{number}") == f"v{min(number, best)}"
    assert level_with("none") == "None"
    assert "it must be one of none, v4" in level_with("v9")


def test_a_library_that_cannot_be_loaded_is_told_of_and_done_without(tmp_path, monkeypatch):
    for name in ("cpu", *native.LEVELS[:3]):
        (tmp_path / f"kernels-{name}.{native.ENDING}").write_text("no library")
    monkeypatch.setattr(native, "LIBRARIES", tmp_path)
    native.level.cache_clear()
    native.library.cache_clear()
    try:
        with pytest.warns(RuntimeWarning, match=r"cannot be loaded .* slower routes are taken"):
            assert not native.is_compiled()
        assert not native.is_compiled()  # told once
        X = np.random.default_rng(0).random((30, 5))
        assert lowdim.NMF(2).fit(X).reconstruction_err_ < np.linalg.norm(X)
    finally:
        native.level.cache_clear()
        native.library.cache_clear()


TAKES = Kernel("nothing", "X[n,p]:real shift[p] *out[p] l1")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({0: np.zeros((3, 2), np.int64)}, "X is int64"),
        ({0: np.zeros(3)}, r"X is float64 \(3,\)"),
        ({0: np.zeros((3, 4))[:, ::2]}, "X is"),
        ({0: np.asfortranarray(np.zeros((3, 2)))}, "X is"),
        ({0: np.zeros((3, 2), ">f8")}, "X is >f8"),
        ({1: np.zeros(3)}, "shift is"),
        ({1: np.zeros(2, np.float32)}, "shift is"),
        ({1: np.zeros(4)[::2]}, "shift is"),
        ({2: np.broadcast_to(np.zeros(2), 2)}, "out is"),
    ],
)
def test_arrays_that_c_would_read_wrongly_are_refused(change, words):
    values = {0: np.zeros((3, 2)), 1: np.zeros(2), 2: np.zeros(2), 3: 1.0} | change
    with pytest.raises(TypeError, match=words):
        TAKES(*values.values())


def test_the_number_of_arguments_is_checked():
    with pytest.raises(TypeError, match="takes 4 arguments, not 1"):
        TAKES(np.zeros((3, 2)))


@pytest.mark.parametrize("shape", [(0,), (1,), (7, 3), (2, 0)])
def test_scratch_begins_with_a_line_of_the_cache(shape):
    for _ in range(20):
        made = native.scratch(*shape, dtype=np.float32)
        assert made.shape == shape
        assert made.flags.c_contiguous
        assert native._address(made) % 64 == 0 or made.size == 0


def test_addresses_are_numpys():
    whole = np.zeros((4, 6))
    frozen = whole.copy()
    frozen.flags.writeable = False
    for array in (whole, whole[1:, 2:4], whole.T, frozen, whole[2:2], np.zeros(0)):
        assert native._address(array) == array.ctypes.data


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(("m", "p"), [(1, 1), (5, 3), (3, 7), (64, 40)])
def test_scatters_are_added_without_pythons_lock(m, p, order):
    rng = np.random.default_rng([m, p])
    piece, scatter = np.asarray(rng.standard_normal((m, p)), order=order), rng.standard_normal((p, p))
    before = scatter.copy()
    assert native.add_syrk(piece, scatter)
    # sums of m products of numbers of about one
    np.testing.assert_allclose(np.triu(scatter - before), np.triu(piece.T @ piece), atol=8 * (m + 8) * 2.3e-16)
    np.testing.assert_array_equal(np.tril(scatter, -1), np.tril(before, -1))


def test_arrays_that_blas_would_read_wrongly_are_left_to_others():
    scatter = np.zeros((3, 3))
    assert not native.add_syrk(np.zeros((4, 6))[:, ::2], scatter)
    assert not native.add_syrk(np.zeros((4, 3), np.float32), scatter)
    assert not native.add_syrk(np.zeros((0, 3)), scatter)
    assert not native.add_syrk(np.zeros((4, 3)), scatter.T[::-1])
    with pytest.raises(AssertionError):
        native.add_syrk(np.zeros((4, 2)), scatter)


def test_kernels_call_no_library_and_read_bits_by_unions():
    for path in [*PACKAGE.rglob("*.c"), *PACKAGE.rglob("*.h")]:
        text = re.sub(r"/\*.*?\*/", "", path.read_text("utf-8"), flags=re.S)
        included = set(re.findall(r"#include\s+(\S+)", text))
        assert all(name.startswith('"') or name in ("<stddef.h>", "<stdint.h>") for name in included), path
        assert not re.search(r"\b(malloc|calloc|free|printf|abort)\b", text), path
        assert not re.search(r"\((u?int(32|64)_t|float|double|REAL) \*\)\s*\w", text), f"{path}: a cast of pointers"
