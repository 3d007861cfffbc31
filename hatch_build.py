"""Compiles the kernels for a wheel or an editable installation; hatchling runs it (`tool.hatch.build.hooks.custom`).

Every `*.c` below `src/lowdim` goes into one library for each level of x86-64, `src/lowdim/_libs/kernels-v3.so` and so
on, or into one for another machine. They call no library, so that one serves every Python and every Linux. The compiler
is CC, `cc`, `gcc` or `clang`; where there is none, it is the wheel of `ziglang`, which pip brings for the build alone.

    LOWDIM_PURE=1         no kernels: the package takes its plain routes
    LOWDIM_TARGET=NAME    for another system, one of TARGETS, by ziglang
    LOWDIM_SANITIZE=1     with checks of addresses and of undefined behaviour; for `make check-sanitizers`

`python hatch_build.py` compiles in place, `python hatch_build.py FOLDER` into a folder.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent
PACKAGE = ROOT / "src" / "lowdim"
LIBRARIES = PACKAGE / "_libs"

ZIG = "ziglang>=0.16,<0.18"

FLAGS = (
    *("-std=c11", "-O3", "-g0", "-shared", "-fvisibility=hidden", "-fopenmp-simd", "-funroll-loops"),
    # products and sums in one rounding, as the plain twins' BLAS has them; no flag that lets sums take another order
    *("-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math"),
    "-fno-strict-aliasing",  # bits of numbers are read by unions; two compilers read the standard differently there
    *("-Wall", "-Wextra", "-Werror=incompatible-pointer-types", "-Werror=implicit-function-declaration"),
    *("-Wno-unknown-pragmas", "-Wno-pass-failed"),
)

CHECKS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer")

LEVELS = {"cpu": "x86-64", "v2": "x86-64-v2", "v3": "x86-64-v3", "v4": "x86-64-v4"}
"""Library → what it is compiled for. `cpu` tells which of the others a machine runs."""


class Target(NamedTuple):
    """A system that wheels are made for."""

    zig: str
    """What zig calls it."""
    tag: str
    """What wheels call it."""
    ending: str
    x86: bool


TARGETS = {
    "linux-x86-64": Target("x86_64-linux-none", "manylinux_2_17_x86_64.musllinux_1_1_x86_64", "so", True),
    "linux-arm64": Target("aarch64-linux-none", "manylinux_2_17_aarch64.musllinux_1_1_aarch64", "so", False),
    "macos-x86-64": Target("x86_64-macos", "macosx_10_13_x86_64", "dylib", True),
    "macos-arm64": Target("aarch64-macos", "macosx_11_0_arm64", "dylib", False),
    "windows-x86-64": Target("x86_64-windows-gnu", "win_amd64", "dll", True),
}


def this_target() -> Target:
    """The machine that this runs on, or the one that LOWDIM_TARGET names."""
    if name := os.environ.get("LOWDIM_TARGET"):
        if name not in TARGETS:
            raise SystemExit(f"LOWDIM_TARGET={name}: it must be one of {', '.join(TARGETS)}.")
        return TARGETS[name]
    machine = platform.machine().lower()
    x86 = machine in ("x86_64", "amd64")
    system = {"linux": "linux-none", "darwin": "macos", "win32": "windows-gnu"}.get(sys.platform, "linux-none")
    ending = {"win32": "dll", "darwin": "dylib"}.get(sys.platform, "so")
    architecture = {"amd64": "x86_64", "arm64": "aarch64"}.get(machine, machine)
    tag = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return Target(f"{architecture}-{system}", tag, ending, x86)


def own_compiler() -> list[str] | None:
    """The machine's compiler; not Microsoft's, which takes other flags."""
    if os.environ.get("LOWDIM_TARGET"):
        return None
    if os.environ.get("CC"):
        return shlex.split(os.environ["CC"])
    found = next((path for name in ("cc", "gcc", "clang") if (path := shutil.which(name))), None)
    return [found] if found else None


def is_wanted() -> bool:
    """Whether kernels are compiled at all."""
    return os.environ.get("LOWDIM_PURE", "") != "1"


def compile_kernels(into: Path = LIBRARIES) -> list[Path]:
    """Compile what has changed since it was compiled last; gives the libraries."""
    target, compiler = this_target(), own_compiler()
    into.mkdir(parents=True, exist_ok=True)
    sources = sorted(PACKAGE.rglob("*.c"))
    cpu, start = PACKAGE / "runtime" / "cpu.c", PACKAGE / "runtime" / "windows.c"
    made, running = [], []
    for name, march in (LEVELS if target.x86 else {"any": ""}).items():
        library = into / f"kernels-{name}.{target.ending}"
        chosen = [cpu, start] if name == "cpu" else [one for one in sources if one != cpu]
        command = _command(target, compiler, march, chosen)
        stamp, now = library.with_suffix(f".{target.ending}.stamp"), _fingerprint(command)
        made.append(library)
        if library.exists() and stamp.exists() and stamp.read_text("utf-8") == now:
            continue
        # under another name first: a process that runs keeps the old one, which must not change beneath it
        fresh = library.with_name(f"{library.name}.{os.getpid()}")
        process = subprocess.Popen(
            [*command, "-o", str(fresh)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        running.append((process, command, fresh, library, stamp, now))
    failed = ""
    for process, command, fresh, library, stamp, now in running:
        said, _ = process.communicate()
        if process.returncode:
            failed += f"{shlex.join(command)}\n{said}\n"
            continue
        if said:
            print(said, file=sys.stderr)
        stamp.unlink(missing_ok=True)
        os.replace(fresh, library)
        stamp.write_text(now, "utf-8")
    if failed:
        raise RuntimeError(f"{failed}The kernels could not be compiled; LOWDIM_PURE=1 installs lowdim without them.")
    for other in set(into.glob("*")) - {path for one in made for path in (one, one.with_name(f"{one.name}.stamp"))}:
        other.unlink()  # of another system, or of an earlier version
    return made


def _command(target: Target, compiler: list[str] | None, march: str, sources: Sequence[Path]) -> list[str]:
    """What compiles these sources, but for where to."""
    zig = compiler is None
    words = [sys.executable, "-m", "ziglang", "cc", "-target", target.zig] if compiler is None else [*compiler]
    words += [*FLAGS, "-Isrc/lowdim"]
    if march:  # zig has its own names of levels
        words.append("-march=" + (march.replace("-", "_") if zig else march))
    if march.endswith("v4"):  # compilers keep to half of it, for processors of 2017 that slowed down
        words.append("-mprefer-vector-width=512")
    if target.ending != "dll":
        words.append("-fPIC")
    if os.environ.get("LOWDIM_SANITIZE") == "1":
        words += CHECKS
    elif target.ending == "so":
        words.append("-nostdlib")  # memcpy and memset, which compilers put in, are those of the process
    elif target.ending == "dll":
        words += ["-nostdlib", "-lcompiler_rt"]
    if zig:
        words.append("-fno-sanitize=all")  # which zig asks for by itself
    return words + [path.relative_to(ROOT).as_posix() for path in sources]


def _fingerprint(command: Sequence[str]) -> str:
    """Of the sources and of what is done with them."""
    seen = hashlib.sha256("\0".join(command).encode())
    for path in sorted([*PACKAGE.rglob("*.c"), *PACKAGE.rglob("*.h")]):
        seen.update(path.read_bytes())
    return seen.hexdigest()


try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # run by itself
    BuildHookInterface = object  # type: ignore[assignment,misc]


class KernelBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Puts the libraries into wheels, and gives those the name of their system."""

    PLUGIN_NAME = "custom"

    def _is_wanted(self) -> bool:
        return bool(self.target_name == "wheel") and is_wanted()

    def dependencies(self) -> list[str]:
        """What pip brings for the build."""
        return [ZIG] if self._is_wanted() and own_compiler() is None else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile before the wheel is put together."""
        if not self._is_wanted():
            return
        build_data["pure_python"], build_data["infer_tag"] = False, False
        build_data["tag"] = f"py3-none-{this_target().tag}"
        # git ignores them, so hatchling would leave them out
        build_data["artifacts"].extend(f"/{path.relative_to(ROOT).as_posix()}" for path in compile_kernels())

    def clean(self, versions: list[str]) -> None:
        """Take away what was compiled."""
        shutil.rmtree(LIBRARIES, ignore_errors=True)


if __name__ == "__main__":
    for made in compile_kernels(Path(sys.argv[1]) if len(sys.argv) > 1 else LIBRARIES):
        print(made)
