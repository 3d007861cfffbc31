"""Probabilistic PCA at the prompt."""

from lowdim.models.base.prompt import Prompt, no_settings, number_or_word

PROMPT = Prompt(
    number_or_word("auto, bic or ard is needed", auto="auto", bic="bic", ard="ard"),
    "auto",
    no_settings,
    ("lowdim impute {data} -o filled.csv", "fill what is missing"),
    resumes=True,
)
