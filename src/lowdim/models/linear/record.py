"""What a model file holds of a linear model, unless the model's own folder says otherwise."""

from lowdim.results.record import LinearFit

RECORD = LinearFit
