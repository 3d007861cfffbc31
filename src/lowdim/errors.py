"""Every exception and warning of lowdim.

An error is one sentence with its numbers: what came, what was needed, what to do. Each class builds its own
message, so that a caller only hands over the facts. A message is made of pieces: where it names a setting or speaks
of Python, the piece says so, and the prompt writes its option there (`lowdim.cli.errors`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

from lowdim.words import brief, listed, plural, shown_lines

if TYPE_CHECKING:
    from sklearn.exceptions import ConvergenceWarning


@dataclass(frozen=True)
class Setting:
    """A setting that a sentence names: `scale=True`, `PCA(scale=True)`, or `scale` alone."""

    name: str
    value: Any = ...
    """What it is, or should be; left out where the name alone is meant."""
    owner: str = ""
    """The model or function that was called with it."""

    def __str__(self) -> str:
        """As Python writes it."""
        said = self.name if self.value is ... else f"{self.name}={brief(self.value)}"
        return f"{self.owner}({said})" if self.owner else said


@dataclass(frozen=True)
class Words:
    """Words that only Python understands, and those that stand for them at the prompt."""

    python: str
    prompt: Piece | tuple[Piece, ...] = ""

    def __str__(self) -> str:
        """As Python says them."""
        return self.python


@dataclass(frozen=True)
class Refusal:
    """A setting, and what it must be."""

    setting: Setting
    needed: tuple[Piece, ...]

    def __str__(self) -> str:
        """As Python says it."""
        return f"{self.setting}: {self.setting.name} must be {''.join(map(str, self.needed))}"


Piece: TypeAlias = str | Setting | Words | Refusal


class Told(Exception):
    """What errors and warnings share: one sentence, kept in the pieces it is made of."""

    def __init__(self, *pieces: Piece):
        super().__init__(shown_lines("".join(map(str, pieces))))
        self.pieces: tuple[Piece, ...] = pieces

    def said_of(self, name: str) -> Self:
        """The same, said of something: a file, or one of several models."""
        return self._of_pieces((f"{name}: ", *self.pieces))

    def renamed(self, name: str, other: str) -> Self:
        """The same, with something called by its other name."""
        return self._of_pieces(
            tuple(piece.replace(name, other) if isinstance(piece, str) else piece for piece in self.pieces)
        )

    def _of_pieces(self, pieces: tuple[Piece, ...]) -> Self:
        self.pieces = pieces
        Exception.__init__(self, shown_lines("".join(map(str, pieces))))  # which sets `args`, of an OSError too
        return self


class LowdimError(Told):
    """Base of every error that lowdim raises on purpose."""


class BadInput(LowdimError, ValueError):
    """The data cannot be used as they are."""


class BadFile(BadInput):
    """A file that cannot be read as what it should be."""


class CannotWrite(LowdimError, OSError):
    """A file that the folder or the disk does not take."""

    @classmethod
    def file(cls, name: str, reason: str) -> CannotWrite:
        """Name the file and what the system said."""
        return cls(f"{name}: cannot be written ({reason}); check the path, its permissions and the space left.")


class BadParameter(LowdimError, ValueError):
    """A setting has a value that it cannot have."""

    owner: str = ""
    """The model or function that was called; empty where the sentence is about something else than one setting."""
    name: str = ""
    """Its setting."""
    value: object = None
    """What was given for it."""
    needed: str = ""
    """What it takes."""
    remedy: str = ""
    """What to do."""

    @classmethod
    def of(
        cls, owner: str, name: str, given: object, needed: Piece | tuple[Piece, ...], remedy: str = ""
    ) -> BadParameter:
        """Say which parameter of which model got what, and what it takes."""
        takes = needed if isinstance(needed, tuple) else (needed,)
        error = cls(Refusal(Setting(name, given, owner), takes), f". {remedy}" if remedy else ".")
        error.owner, error.name, error.value, error.remedy = owner, name, given, remedy
        error.needed = "".join(map(str, takes))
        return error

    @classmethod
    def no_setting(
        cls, function: str, name: str, unknown: str, known: Sequence[str], typed: Sequence[str]
    ) -> BadParameter:
        """Say which settings there are of what a function makes by name, such as a table, and which can be typed."""
        takes = f"takes {', '.join(known) or 'no settings'}."
        listed = ", ".join(typed) or "no settings; leave it out"
        at_prompt = (Setting(unknown), f": the {function} {name} takes {listed}.")
        return cls(Words(f"{function}({name!r}) has no setting {unknown!r}; it {takes}", at_prompt))

    @classmethod
    def no_table(cls, owner: str, name: object, known: str) -> BadParameter:
        """Say which tables there are; `known` lists them as Python writes them."""
        listed = known.removeprefix("one of ").replace("'", "")
        return cls(
            Words(f"{owner}(table={name!r}): table must be {known}.", f"there is no table {name}; there are {listed}.")
        )


class SeveralTables(BadFile):
    """A file that holds several tables, or arrays, of which none was named."""

    tables: Mapping[str, str]
    """What can be named → what it is."""

    @classmethod
    def in_file(cls, where: str, tables: Mapping[str, str], what: str) -> SeveralTables:
        """List what there is, and how one of them is named."""
        names = list(tables)
        shown = f"{listed(names[:8])}{'' if len(names) <= 8 else ' and more'}"
        said = f"{where}: holds {len(names)} {what}, {shown}; say which to read, as in "
        error = cls(said, Setting("table", names[0]), ".")
        error.tables = dict(tables)
        return error


class NotNumeric(BadInput, TypeError):
    """Columns that hold no real numbers."""

    @classmethod
    def columns(cls, kinds: Mapping[str, str]) -> NotNumeric:
        """Name the columns and what they hold."""
        listed = _listed([f"{name} ({kind})" for name, kind in kinds.items()])
        return cls(
            f"{plural(len(kinds), 'column')} {'holds' if len(kinds) == 1 else 'hold'} no real numbers: {listed}; "
            "leave them out, or turn them into numbers first."
        )

    @classmethod
    def dtype(cls, dtype: object) -> NotNumeric:
        """Name the type of an array that is not one of real numbers."""
        return cls(
            f"The array has dtype {dtype}, but real numbers are needed: argument must be a string-free, real number "
            "array, for example X.astype(float)."
        )


class MissingValues(BadInput):
    """NaN or infinite entries where none may be."""

    @classmethod
    def found(
        cls, missing: Mapping[str, int], infinite: Mapping[str, int], n_rows: int, *, named: bool = True
    ) -> MissingValues:
        """Count the holes per column; `named`: of a table, which can be read in another way."""
        parts = []
        if missing:
            parts.append(_holes(missing, "missing (NaN)"))
        if infinite:
            parts.append(_holes(infinite, "infinite (inf)"))
        of_infinite = MEND_INFINITE if named else MEND_INFINITE_OF_ARRAY
        advice = of_infinite if infinite else MEND_MISSING
        return cls(f"{' and '.join(parts)}, in {n_rows:,} rows, but every value must be finite: ", advice, ".")

    def advising(self, advice: Piece) -> MissingValues:
        """The same with other advice, where no model of rows with holes can take them, or the model is there."""
        return MissingValues(*(advice if piece == MEND_MISSING else piece for piece in self.pieces))


MEND_KERNEL = "make the kernel matrix of rows without missing values, or leave the row and the column of such rows out"
MEND_MISSING = Words(
    "fit ProbabilisticPCA or PCA(missing='ppca'), or leave those rows or columns out",
    "fill them with lowdim impute, use --model ppca, or leave columns out",
)
MEND_BY_FILLING = Words(
    "fill them first, as ProbabilisticPCA('auto').fit(X).impute(X) does, or leave those rows or columns out",
    "fill them first, as lowdim impute does, or leave those rows or columns out",
)
MEND_FOR_MODEL = Words(MEND_BY_FILLING.python, "fill them first, as lowdim impute does, or leave those rows out")
MEND_CALLS = Words(
    "fit GenotypePCA, for which missing calls are nothing unusual",
    "use --model genotypes, for which missing calls are nothing unusual",
)
MEND_INFINITE = Words(
    "make infinite values missing, as np.where(np.isinf(X), np.nan, X) does, or lowdim.open(path, missing='inf,-inf'), "
    "or leave those rows or columns out",
    (
        Setting("missing", "inf,-inf"),
        " reads infinite values as missing, which lowdim impute and --model ppca take; or leave those columns out",
    ),
)
MEND_INFINITE_OF_ARRAY = Words(MEND_INFINITE.python, "write infinite values as missing ones (NaN)")


class WrongShape(BadInput):
    """The array has a shape that cannot be used."""


class WrongColumns(BadInput):
    """Data with other columns than the model was fitted on, or with several of one name."""

    @classmethod
    def repeated(cls, times: Mapping[str, int]) -> WrongColumns:
        """Name the columns that share a name, and how many do."""
        listed = _listed([f"{name!r} ({count} times)" for name, count in times.items()])
        one = len(times) == 1
        return cls(
            f"The column name{'' if one else 's'} {listed} stand{'s' if one else ''} more than once: give every column "
            "its own name."
        )

    @classmethod
    def other(cls, known: Sequence[str], came: Sequence[str]) -> WrongColumns:
        """Say which names are new, missing or elsewhere; the first lines are scikit-learn's, which its checks read."""
        unseen, gone = sorted(set(came) - set(known)), sorted(set(known) - set(came))
        lines = ["The feature names should match those that were passed during fit."]
        if unseen:
            lines += ["Feature names unseen at fit time:", *_bullets(unseen)]
        if gone:
            lines += ["Feature names seen at fit time, yet now missing:", *_bullets(gone)]
        if not unseen and not gone:
            lines.append("Feature names must be in the same order as they were in fit.")
            first = next(j for j, (one, other) in enumerate(zip(came, known, strict=False)) if one != other)
            lines.append(f"Column {first + 1} is {came[first]!r}, and was {known[first]!r}.")
        lines.append("Select the columns of the fit by name, in its order: list(model.fit_.columns) has the names.")
        return cls("\n".join(lines))


class MixedNames(WrongColumns, TypeError):
    """Columns of which some are called by texts, and some by numbers."""


class SingularModel(LowdimError, ValueError):
    """A Gaussian density or an inverse that does not exist for this fit."""


class NotPositive(LowdimError, ValueError):
    """A kernel whose matrix has negative eigenvalues, so that it is no inner product of any features."""

    @classmethod
    def found(cls, kernel: str, lowest: float, highest: float) -> NotPositive:
        """Name the kernel and its two extreme eigenvalues."""
        return cls(
            f"The kernel {kernel} is not positive semi-definite on these rows: its matrix has an eigenvalue of "
            f"{lowest:.3g} or below beside the largest, {highest:.3g}; take another kernel, ",
            Words("or not_positive='clip', which leaves the negative part out.", "such as --kernel rbf."),
        )


class CannotMerge(LowdimError, ValueError):
    """Two models that cannot become one, or a fit that cannot be continued."""


class FormatError(LowdimError, ValueError):
    """A model file that is not what it should be."""


class NeedsAnotherPass(LowdimError, ValueError):
    """A solver would have to read rows that can be read only once."""


class ClusterFailed(LowdimError, RuntimeError):
    """Workers or scheduler of a cluster were lost more often than can be borne."""

    @classmethod
    def workers_died(cls, part: int, parts: int, tries: int) -> ClusterFailed:
        """Say which part of the rows was given up."""
        return cls(
            f"Part {part + 1:,} of {parts:,} of the rows was given to the cluster {tries} times, and each time the "
            "workers that had it died: its chunks may not fit into a worker's memory; make them smaller with rechunk "
            "or repartition, or give the workers more."
        )

    @classmethod
    def lost(cls, part: int, parts: int) -> ClusterFailed:
        """Say that the scheduler has forgotten the work."""
        return cls(
            f"The scheduler no longer knows part {part + 1:,} of {parts:,} of the rows: it was stopped or restarted, "
            "or data that were kept on workers are gone; connect a client to a running cluster and fit again."
        )


class TooLarge(LowdimError, MemoryError):
    """Work that the memory that is left, or allowed, does not hold."""

    @classmethod
    def beyond(cls, what: str, needed: float, left: float, *advice: Piece) -> TooLarge:
        """Say what takes more bytes than are left, and what would do."""
        return cls(f"{what} would take {_bytes(needed)} of memory, but {_bytes(left)} are left: ", *advice, ".")


class Interrupted(KeyboardInterrupt):
    """Work that was asked to stop, with what it had found until then."""

    def __init__(self, rows: int = 0, statistic: Any = None):
        super().__init__(f"Interrupted after {rows:,} rows." if rows else "Interrupted.")
        self.rows = rows
        """Rows that were read, where it was reading rows."""
        self.statistic = statistic
        """What was known of them."""
        self.model: Any = None
        """A model of those rows, which `partial_fit` carries on; None where the solver cannot go on from there."""


class NeedsExtra(LowdimError, ImportError):
    """An optional package is not installed."""

    @classmethod
    def package(cls, package: str, what: str, extra: str) -> NeedsExtra:
        """Name the pip command that mends it."""
        return cls(f'{what} needs {package}, which is not installed: pip install "lowdim[{extra}]".')


class LowdimWarning(Told, UserWarning):
    """Base of every warning that lowdim gives."""


class AccuracyWarning(LowdimWarning):
    """The certificate does not reach the accuracy that was asked for."""


class ConstantColumns(LowdimWarning):
    """Columns without variance, which scaling cannot bring to variance one."""

    @classmethod
    def found(cls, count: int, columns: int, names: str) -> ConstantColumns:
        """Say how many of the columns do not vary, and which."""
        are, were = ("is", "was") if count == 1 else ("are", "were")
        return cls(f"{count:,} of {plural(columns, 'column')} {are} constant and {were} not scaled: {names}.")


class RoundedColumns(ConstantColumns):
    """Columns that vary by no more than the last digits of their type, of which scaling makes much."""


class UnseenColumns(LowdimWarning):
    """Columns of which no row has a value."""


class UnseenRows(LowdimWarning):
    """Rows of which no column has a value: whatever a model gives for them is the same for all."""

    def __init__(self, rows: Sequence[int], n_rows: int, names: Sequence[str] | Mapping[int, str] | None = None):
        some, rest = rows[:12], f" and {len(rows) - 12} more" if len(rows) > 12 else ""
        python, prompt = (", ".join(f"{row + first:,}" for row in some) + rest for first in (0, 1))
        numbers = Words(f"counted from 0: {python}", f"counted from 1: {prompt}")
        super().__init__(
            f"Nothing was observed of {len(rows):,} of {plural(n_rows, 'row')} (",
            numbers if names is None else ", ".join(names[row] for row in some) + rest,
            "): what is given for them is the same for all of them, and comes from the other rows.",
        )
        self.rows: tuple[int, ...] = tuple(rows)
        self.n_rows: int = n_rows


if TYPE_CHECKING:

    class NotConverged(LowdimWarning, ConvergenceWarning):  # type: ignore[misc]  # scikit-learn has no types
        """An iteration that was stopped before it stood still."""

else:

    class NotConverged(LowdimWarning, Warning):
        """An iteration that was stopped before it stood still.

        It is a `ConvergenceWarning` of scikit-learn's too, from the moment that this is loaded, as models are its
        estimators from then on (models/base/scikit_learn.py): to load it for a warning would take most of the memory
        of a small fit.
        """


class FarFromData(LowdimWarning):
    """Points of a feature space that no row lies near."""

    def __init__(self, far: int, points: int):
        super().__init__(
            f"{far:,} of {points:,} points of the feature space lie far from the image of any row, so that the rows "
            "given for them are the nearest known and mean little",
            Words(" (return_distance=True tells how far)"),
            ".",
        )
        self.far = far
        self.points = points


class DuplicateRows(LowdimWarning):
    """Rows that are the same, where each should be another individual."""


class RemovedRows(LowdimWarning):
    """Rows that were left out of a fit, as was asked."""


class RemovedColumns(LowdimWarning):
    """Columns that were left out of a fit."""


class TableNote(LowdimWarning):
    """Something of a table that was guessed, passed over or left out as it was read."""

    def __init__(self, column: str, *pieces: Piece, matters: Literal["first", "", "last"] = ""):
        super().__init__(*pieces)
        self.column = column
        """Which column it is about; empty where it is about lines, sheets or files."""
        self.matters = matters
        """ "first": it decides which rows, columns or values are worked with, and may be wrong; "last": hardly ever."""


class TotalRow(TableNote):
    """A last row that seems to sum up the others, and is read like them."""

    def __init__(self, column: str, text: str, *pieces: Piece):
        super().__init__("", *pieces, matters="first")
        self.name: str = column
        """Of which column it is known …"""
        self.text: str = text
        """… and what stands there."""


class TableHint(TableNote):
    """What a column seems to be, or was made into as was asked: it stands among the notes, and warns of nothing."""


class UnseenLevels(LowdimWarning):
    """Rows with values of a text column that the fit did not see, which was allowed."""


class EmptyTexts(LowdimWarning):
    """Texts without a word that is counted."""


class RankWarning(LowdimWarning):
    """More components were asked for than the data have directions."""


class UnrelatedWarning(LowdimWarning):
    """A response that does not vary, or that nothing was found to predict."""


def _holes(counts: Mapping[str, int], kind: str) -> str:
    total = sum(counts.values())
    listed = _listed([f"{name}: {count:,}" for name, count in counts.items()])
    return f"{plural(total, 'value')} {'is' if total == 1 else 'are'} {kind} ({listed})"


def _bytes(count: float) -> str:
    return f"{count / 1e9:,.1f} GB" if count >= 1e9 else f"{count / 1e6:,.0f} MB" if count >= 1e6 else f"{count:,.0f} B"


def _bullets(names: Sequence[str], most: int = 5) -> list[str]:
    return [*(f"- {name}" for name in names[:most]), *(["- ..."] if len(names) > most else [])]


def _listed(items: Sequence[str], most: int = 5) -> str:
    if len(items) <= most:
        return ", ".join(items)
    return ", ".join(items[:most]) + f" and {len(items) - most} more"
