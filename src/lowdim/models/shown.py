"""What a fitted model shows of itself: a few lines in a terminal, a card in a notebook."""

from __future__ import annotations

import sys
from typing import Any

from sklearn.utils._pprint import _EstimatorPrettyPrinter

from lowdim.errors import LowdimError
from lowdim.results.letters import in_letters_of


class Shown:
    """Before a fit a model is shown as scikit-learn shows it; afterwards with what it learnt."""

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        shown = self._in_one_line(N_CHAR_MAX)
        card = self._card()
        if card is None:
            return shown
        from lowdim.views.card_text import card_text

        return in_letters_of(sys.stdout, card_text(shown, card))

    @property
    def _repr_html_(self) -> Any:
        plain = super()._repr_html_  # type: ignore[misc]  # an AttributeError where set_config(display="text") asks so
        return plain if self._card() is None else self._as_html

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        if self._card() is None:
            return super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        html = getattr(self, "_repr_html_", None)
        return {"text/plain": repr(self)} | ({} if html is None else {"text/html": html()})

    def _in_one_line(self, most: int = 700) -> str:
        """Name and settings that are not the default's."""
        return str(super().__repr__(N_CHAR_MAX=most))  # type: ignore[call-arg]

    def _as_code(self) -> str:
        """The same, whole and on one line, to be typed again."""
        return " ".join(self._in_one_line(1_000_000).split())

    def _as_html(self) -> str:
        from lowdim.views.card_html import card_html

        return card_html(self._in_one_line(), self._card())

    def _card(self) -> Any:
        """What the record says at a glance; None where there is none: showing a model computes nothing."""
        record = getattr(self, "_record", None)
        if getattr(self, "_assigned", None):
            try:
                record = self.fit_  # type: ignore[attr-defined]
            except (AttributeError, LowdimError):  # as long as too little was assigned, or what does not go together
                record = None
        if record is None:
            return None
        from lowdim.views.card import card_of

        return card_of(record)


# scikit-learn breaks long lines by what prints an estimator, which would else be its own method alone; inside pipelines
# it does not ask for our repr, so that models stay one line there
_EstimatorPrettyPrinter._dispatch[Shown.__repr__] = _EstimatorPrettyPrinter._pprint_estimator
