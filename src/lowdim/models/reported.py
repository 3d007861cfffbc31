"""`report` of every estimator; what it does is loaded when it is asked for."""

from __future__ import annotations

import os
from typing import Any

from sklearn.utils.validation import check_is_fitted


class Reported:
    """A fitted estimator that can be written as a page."""

    def report(
        self,
        path: str | os.PathLike[str],
        X: Any = None,
        *,
        y: Any = None,
        color: Any = None,
        row_names: Any = None,
        picture_shape: tuple[int, ...] | None = None,
        title: str | None = None,
        rules: Any = None,
        uncertainty: Any = None,
        values: bool = True,
    ) -> None:
        """Write one HTML file with linked views of the fit: it needs no network, and can be sent to anybody.

        Parameters
        ----------
        path : path
            Ends in .html. It is replaced whole, or not at all.
        X : whatever `transform` takes, or None
            Rows to show, with their values; a frame may have more columns, to colour by. Of more than 50,000 rows a
            sample is shown, and the page says so. None: what the model knows by itself, without any row.
        y : array of shape (n,) or (n, m), or None
            Of a regression: the responses of the rows, to draw beside what was predicted of them.
        color : name, list of names, array (n,), or mapping of names to arrays
            What points can be coloured by: columns of X by name, or values.
        row_names : name, array (n,) or None
            What rows are called; None: the index of a pandas frame, names of files, or their numbers.
        picture_shape : (height, width), (height, width, 3) or None
            Where each row is a picture. Folders of pictures know it themselves.
        title : str or None
            The heading; None: the name of the file.
        rules : what `choose_k` gave, or None
            Marks on the scree; None: what the fit alone says.
        uncertainty : what `uncertainty` gave, or None
            Intervals of shares and loadings.
        values : bool
            Whether the page holds the rows' own numbers. False: scores and names only, for rows that are not to be
            passed on.

        Examples
        --------
        >>> import tempfile, pathlib, lowdim
        >>> foods = lowdim.datasets.uk_foods().to_pandas()
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> lowdim.PCA(2).fit(foods).report(folder / "foods.html", foods)
        >>> (folder / "foods.html").read_text(encoding="utf-8")[:15]
        '<!doctype html>'
        """
        from lowdim.models.reporting import Wanted, write

        check_is_fitted(self)
        write(self, path, Wanted(X, y, color, row_names, picture_shape, title, rules, uncertainty, values))
