"""A codebook at the prompt."""

from lowdim.models.base.prompt import Prompt, count_of, no_settings

PROMPT = Prompt(
    count_of("a codebook needs a whole number of codewords"),
    "8",
    no_settings,
    ("lowdim compare {data} --k {k} --models vq,pca", "against PCA"),
    no_scale="a codebook is of the columns as they are; leave --scale out, or scale the table",
    no_memory="k-means keeps at most 1 GiB of rows by itself; leave --memory out",
)
