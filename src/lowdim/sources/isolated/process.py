"""A child process that reads files: started, asked, ended; its death as one sentence with the name of the file."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np

from lowdim.errors import BadFile, LowdimError, Setting
from lowdim.runtime.machine import read_at
from lowdim.runtime.memory import available_memory, count_helper
from lowdim.runtime.progress import stop_if_asked
from lowdim.runtime.warn import warn_user
from lowdim.sources.formats.long_reads import when_written
from lowdim.sources.isolated.limits import Limits
from lowdim.sources.isolated.wire import Garbled, pack, unpack

Isolated = Literal["auto", "always", "never"]

HEAD = struct.Struct("<QQ?")
"""Before a message: bytes of its text, bytes of its arrays, and whether these lie in the shared memory."""

AREA_BYTES = 2**31
"""Of the shared memory, none of which is taken before it is written to; larger messages go through the pipe."""

MOST_TEXT = 2**31
"""Bytes of a text that are taken from a child."""

LOOK_SECONDS = 0.1
"""How often it is asked, while an answer is waited for, whether the work is to stop."""

PROGRAM = "import sys; sys.path[:] = {!r}; from lowdim.sources.isolated.child import main; main({!r}, {!r})"

KEPT = (
    *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "LANG", "LC_ALL", "TZ", "LOWDIM_CPU", "LOWDIM_DEBUG"),
    *("HDF5_USE_FILE_LOCKING", "HDF5_PLUGIN_PATH"),
)
"""Variables that a child inherits: what it is run with, and none that holds a secret."""

SINGLE = {
    **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "BLOSC_NTHREADS"), "1"),
    "MALLOC_ARENA_MAX": "2",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "PYTHONDONTWRITEBYTECODE": "1",
}
"""A parser does not multiply: memory that threads reserve would count against its limit."""


class Child:
    """A process that reads some files. What one call opened can be asked for until the child is given up.

    It is started when it is first asked, and anew where it is gone, or belongs to another process (after a fork, or a
    journey in a pickle): it is then asked for what was opened before.
    """

    def __init__(self, paths: Sequence[Path]):
        self._paths = tuple(path.absolute() for path in paths)
        self._name, self._folder = str(paths[0]), _current_folder()
        self._written: list[tuple[int, ...]] | None = None
        self._opened: list[dict[str, Any]] = []
        self._forget()

    def __getstate__(self) -> dict[str, Any]:
        gone = ("_process", "_lock", "_owner", "_area", "_finalizer")
        return {name: value for name, value in vars(self).items() if name not in gone}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._forget()

    def _forget(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock, self._owner = threading.Lock(), os.getpid()
        self._left: list[int] = []
        self._held = 0
        count_helper(self)

    @property
    def held(self) -> int:
        """Bytes of memory that the process held when it last answered; 0: there is none."""
        return self._held if self._process is not None and self._owner == os.getpid() else 0

    @property
    def name(self) -> str:
        """The file, or the first of them, as the user named it."""
        return self._name

    def open(self, call: dict[str, Any]) -> tuple[int, Any]:
        """Open something: its number, and what is to be known of it."""
        try:
            with self._ready():
                answer = self._say({"do": "open", **call})
        except BaseException:
            if not self._opened:  # nobody will ask it for anything
                self.end()
            raise
        self._opened.append(call)
        return len(self._opened) - 1, answer

    def ask(self, **said: Any) -> Any:
        """The answer to a question."""
        with self._ready():
            return self._say(said)

    def refuse_changed(self) -> None:
        """Raise an error unless the files are those that were opened: others may have other rows."""
        written = [when_written(path.stat()) if path.exists() else () for path in self._paths]
        if self._written is None:
            self._written = written
        for path, before, now in zip(self._paths, self._written, written, strict=True):
            if before != now:
                raise BadFile(f"{path}: was replaced or changed after it was opened; open it anew.")

    def leave(self, stream: int) -> None:
        """Say, with the next question, that no more is wanted of some rows: a generator may be dropped at any time."""
        self._left.append(stream)

    def end(self) -> None:
        """End the process; what was opened is opened anew if it is asked for again."""
        if self._process is not None and self._owner == os.getpid():
            self._close()
        self._forget()

    # -- inside ---------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _ready(self) -> Iterator[None]:
        """The process, running, for one question at a time."""
        if self._owner != os.getpid():
            self._forget()
        with self._lock:
            try:
                if self._process is None:
                    self._start()
                    for call in self._opened:
                        self._say({"do": "open", **call})
                yield
            except LowdimError:
                raise
            except BaseException:  # an answer may be under way that nobody will hear
                if self._process is not None:
                    self._close()
                raise

    def _start(self) -> None:
        self.refuse_changed()
        limits = self._limits = Limits.of(sum(map(_bytes_of, self._paths)), available_memory())
        path = [place for place in sys.path if place and os.path.isabs(place)]
        posix = os.name == "posix"
        with contextlib.ExitStack() as ours:
            there, lifeline = os.pipe()
            ours.callback(os.close, lifeline)
            area = ours.enter_context(_shared_memory()) if posix else None
            shared = [there, *([area.fileno()] if area is not None else [])]
            said = {**vars(limits), "lifeline": there, "area": None if area is None else area.fileno()}
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-S", "-B", "-c", PROGRAM.format(path, said, AREA_BYTES)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=None if os.environ.get("LOWDIM_DEBUG") else subprocess.DEVNULL,
                    bufsize=0,
                    env={**{name: os.environ[name] for name in KEPT if name in os.environ}, **SINGLE},
                    cwd=self._folder,
                    start_new_session=True,
                    pass_fds=shared if posix else (),
                )
            except OSError as error:
                raise BadFile(
                    f"{self.name}: the process that would read it cannot be started ({error}); ",
                    Setting("isolated", "never"),
                    " reads it in this one.",
                ) from error
            finally:
                os.close(there)
            ours.pop_all()  # they are closed with the process from here on
        self._area = area
        self._finalizer = weakref.finalize(self, _end, self._process, lifeline, area, os.getpid())

    def _close(self) -> None:
        self._finalizer()
        self._process = None

    def _say(self, said: dict[str, Any]) -> Any:
        """One question, and what is answered; warnings that were given on the way are given here."""
        assert self._process is not None
        assert self._process.stdin is not None
        until = time.monotonic() + self._limits.waiting
        left, self._left = self._left, []
        text, arrays = pack({"left": left, "question": said})
        assert not arrays
        try:
            with self._stopwatch():
                _write(self._process.stdin, HEAD.pack(len(text), 0, False) + text)
                answer = self._hear(until)
        except (BrokenPipeError, EOFError) as error:
            raise self._died() from error
        except (Garbled, struct.error) as error:
            self._close()
            raise BadFile(
                f"{self.name}: what came of reading it cannot be understood ({error}); do not use it."
            ) from error
        self._held = answer["held"]
        for warning in answer["warnings"]:
            warn_user(warning) if isinstance(warning, Warning) else warn_user(str(warning))
        if "error" in answer:
            raise self._error(answer["error"])
        return answer["value"]

    @contextlib.contextmanager
    def _stopwatch(self) -> Iterator[None]:
        """End the process in time, where pipes cannot be waited for (Windows)."""
        if os.name == "posix":
            yield
            return
        assert self._process is not None
        timer = threading.Timer(self._limits.waiting, self._process.kill)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _hear(self, until: float) -> dict[str, Any]:
        sizes = HEAD.unpack(self._read(HEAD.size, until))
        if sizes[0] > MOST_TEXT or sizes[1] > max(self._limits.memory, AREA_BYTES):
            raise Garbled(f"{sum(sizes[:2]):,} bytes")
        text = self._read(sizes[0], until)
        if sizes[2] and self._area is not None:
            arrays = np.empty(sizes[1], np.uint8)
            if read_at(self._area.fileno(), arrays, 0) < sizes[1]:
                raise Garbled("short memory")
        else:
            arrays = np.frombuffer(self._read(sizes[1], until), np.uint8)
        answer = unpack(bytes(text), arrays)
        if not isinstance(answer, dict) or not {"held", "warnings"} < answer.keys():
            raise Garbled("no answer")
        return answer

    def _read(self, count: int, until: float) -> bytearray:
        """So many bytes of what the child says."""
        assert self._process is not None
        assert self._process.stdout is not None
        found, pipe = bytearray(count), self._process.stdout.fileno()
        view, there = memoryview(found), 0
        while there < count:
            self._wait(pipe, until)
            part = os.read(pipe, min(count - there, 2**20))
            if not part:
                raise EOFError
            view[there : there + len(part)] = part
            there += len(part)
        return found

    def _wait(self, pipe: int, until: float) -> None:
        """Wait until there is something to read."""
        if os.name != "posix":  # where pipes cannot be waited for
            return
        poll = select.poll()  # `select` takes no descriptors from 1,024 on
        poll.register(pipe, select.POLLIN)
        while not poll.poll(1000 * LOOK_SECONDS):
            stop_if_asked()
            if time.monotonic() > until:
                self._close()
                raise BadFile(
                    f"{self.name}: reading it gave nothing for {self._limits.waiting:,} seconds and was stopped; check "
                    "the file, and the disk. ",
                    *self._in_this_process(),
                )

    def _error(self, said: Any) -> Exception:
        if isinstance(said, LowdimError):
            return said
        kind, text = said if isinstance(said, tuple) and len(said) == 2 else ("", said)
        if kind == "MemoryError":
            return self._too_large()
        return BadFile(
            f"{self.name}: cannot be read ({kind}: {' '.join(str(text).split())[:200]}); check what wrote it."
        )

    def _died(self) -> LowdimError:
        """What is to be said of the end of the process."""
        assert self._process is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(10)
        code = self._process.returncode
        self._close()
        ended = -code if code is not None and code < 0 else 0
        if ended == getattr(signal, "SIGXCPU", -1):
            return BadFile(
                f"{self.name}: reading it took more than the {self._limits.seconds:,} seconds of the processor that a "
                "file of its size is given; check what wrote it. ",
                *self._in_this_process(),
            )
        how = signal.Signals(ended).name if ended in set(signal.Signals) else f"exit code {code}"
        if ended in (signal.SIGABRT, getattr(signal, "SIGKILL", -1)):  # what allocators do that find no memory
            return BadFile(
                f"{self.name}: the process that read it was ended ({how}): the {self._room} of memory that a file of "
                "its size is given do not suffice, or it is damaged. ",
                *self._in_this_process(),
            )
        return BadFile(
            f"{self.name}: the process that read it crashed ({how}), which took nothing else with it: the file is "
            "damaged, or made to do harm; do not use it, or write it anew."
        )

    def _too_large(self) -> LowdimError:
        return BadFile(
            f"{self.name}: reading it takes more than the {self._room} of memory that a file of its size is given: "
            "it is damaged, or made to fill the memory. ",
            *self._in_this_process(),
        )

    @property
    def _room(self) -> str:
        return f"{self._limits.memory // 2**20:,} MiB"

    @staticmethod
    def _in_this_process() -> tuple[Any, ...]:
        return ("If you trust it, ", Setting("isolated", "never"), " reads it without limits.")


def _current_folder() -> str:
    """Where paths that name no root begin; the root where the folder was deleted."""
    try:
        return os.getcwd()
    except OSError:
        return os.path.abspath(os.sep)


def _bytes_of(path: Path) -> int:
    """Bytes of a file, or of all that lie in a folder."""
    try:
        if path.is_dir():
            return sum(entry.stat().st_size for entry in path.rglob("*") if entry.is_file())
        return path.stat().st_size
    except OSError:
        return 0


def _shared_memory() -> IO[bytes]:
    """Memory that both processes see, by a file that has no name."""
    if hasattr(os, "memfd_create"):
        file: IO[bytes] = os.fdopen(os.memfd_create("lowdim"), "w+b", 0)
    else:  # macOS
        file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  it is closed with the process
    os.ftruncate(file.fileno(), AREA_BYTES)
    return file


def _write(pipe: IO[bytes], data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[pipe.write(view) :]


def _end(process: subprocess.Popen[bytes], lifeline: int, area: IO[bytes] | None, owner: int) -> None:
    """End a process, also where it would go on for ever; in a fork of its parent nothing is done to it."""
    if owner == os.getpid():
        process.kill()
    os.close(lifeline)
    for pipe in (process.stdin, process.stdout, area):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    if owner == os.getpid():
        process.wait()
