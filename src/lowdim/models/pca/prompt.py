"""PCA at the prompt."""

from lowdim.models.base.prompt import Prompt, no_settings, share_or_count

PROMPT = Prompt(share_or_count, "90%", no_settings, ("lowdim choose {same}", "how many dimensions?"), resumes=True)
