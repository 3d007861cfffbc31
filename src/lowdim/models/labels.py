"""Labels of rows: given, or the folders that pictures lie in; and one more for rows that are nobody's."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_y

from lowdim.errors import BadInput, BadParameter
from lowdim.sources.source import Source

FOLDER, NAME = "folder", "name"
"""What is kept aside of files in folders."""


def labels_of(owner: str, source: Source, y: Any) -> NDArray[Any]:
    """(n,) labels as they were given; of a folder of pictures or texts, the names of its folders."""
    if y is None:
        return _folders(owner, source)
    refuse_missing(owner, y)
    labels = _check_y(y, multi_output=False, y_numeric=False)
    check_classification_targets(labels)
    n = source.count_rows()
    if n is not None and n != len(labels):
        raise BadInput(f"{owner}: {n:,} rows came with {len(labels):,} labels; each row needs one.")
    return np.asarray(labels)


def refuse_missing(owner: str, labels: Any) -> None:
    """Raise an error if some labels are not there."""
    given = np.asarray(labels)
    if given.dtype.kind == "O":
        missing = np.array([label is None or bool(label != label) for label in given.ravel()], dtype=bool)
    else:
        missing = ~np.isfinite(given.ravel()) if given.dtype.kind == "f" else np.zeros(given.size, dtype=bool)
    count = int(missing.sum())
    if count:
        raise BadInput(
            f"{owner}: {count:,} of {given.size:,} labels {'is' if count == 1 else 'are'} missing (NaN or inf), the "
            "first that of row "
            f"{int(np.argmax(missing)) + 1:,}, but each row needs one: fill them in, or leave those rows out."
        )


def _folders(owner: str, source: Source) -> NDArray[Any]:
    if FOLDER not in source.beside:
        raise BadInput(
            f"{owner} requires y to be passed, but the target y is None: give a label for each row. (Only folders of "
            "pictures, one inside for each label, bring their own.)"
        )
    labels = source.aside(FOLDER)
    if len(set(labels.tolist())) < 2:
        raise BadInput(
            f"{owner}: all of {source.describe()} lie in one folder, {labels[0]!r}, so their labels are not known: "
            "give y, or put those of each label into a folder of its own."
        )
    return labels


def unknown_label(owner: str, unknown: Any, classes: NDArray[Any]) -> Any:
    """What rows are called that are nobody's, in the labels' own kind: as asked, or "unknown", or −1."""
    text = classes.dtype.kind in "UO" and all(isinstance(label, str) for label in classes)
    if unknown is None:
        if classes.dtype.kind not in "iufUO" or (classes.dtype.kind == "O" and not text):
            raise BadParameter.of(
                owner, "unknown", unknown, f"given where labels are {classes.dtype}: make them texts or whole numbers"
            )
        unknown = "unknown" if text else -1
    if isinstance(unknown, str) != text:
        raise BadParameter.of(owner, "unknown", unknown, f"{'a text' if text else 'a number'}, as the labels are")
    if unknown in classes.tolist():
        raise BadParameter.of(owner, "unknown", unknown, "a label that nobody of the gallery has")
    return unknown


def with_unknown(labels: NDArray[Any], accepted: NDArray[np.bool_], unknown: Any) -> NDArray[Any]:
    """The same labels, where accepted; a type that holds both, as unsigned numbers have no −1, nor short texts room."""
    if labels.dtype.kind == "O":
        return np.where(accepted, labels, unknown)
    if labels.dtype.kind == "U":
        return np.where(accepted, labels, np.array(unknown))
    wide = np.result_type(labels.dtype, np.min_scalar_type(unknown))
    return np.where(accepted, labels.astype(wide), np.asarray(unknown).astype(wide))
