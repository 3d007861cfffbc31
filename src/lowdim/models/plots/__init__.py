"""`model.plot`: what can be drawn of each model. Data come from views/figures, drawings from views/plots."""
