"""The model that the command line asks for, by what each model says of itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lowdim.errors import BadParameter
from lowdim.models.registry import PROMPTS, model_class, prompt_name, prompt_of

if TYPE_CHECKING:
    from lowdim.cli.options import ModelOptions
    from lowdim.models.base.estimator import Model


def build(asked: ModelOptions) -> Model:
    """The model with these settings."""
    name = prompt_name(asked.model)
    if name is None:
        raise BadParameter(f"--model {asked.model}: there is no such model yet; there is {', '.join(PROMPTS)}.")
    prompt, given = prompt_of(name), asked.own()
    for option, value in given.items():
        if option not in prompt.options:
            owners = " or ".join(one for one in PROMPTS if option in prompt_of(one).options)
            raise BadParameter(f"--{option} {value}: only --model {owners} has that; add it, or leave --{option} out.")
    if asked.scale and prompt.no_scale:
        raise BadParameter(f"--scale: {prompt.no_scale}.")
    if asked.memory is not None and prompt.no_memory:
        raise BadParameter(f"--memory {asked.memory}: {prompt.no_memory}.")
    settings: dict[str, Any] = prompt.settings(**given)
    settings |= {"scale": True} if asked.scale else {}
    settings |= {} if asked.memory is None else {"memory": asked.memory}
    made: Model = model_class(PROMPTS[name])(prompt.keep(asked.keep_of(prompt)), **settings)
    return made
