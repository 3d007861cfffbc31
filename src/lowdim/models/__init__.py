"""Promises to the user: scikit-learn estimators, a folder a model, named like its public class.

`registry` lists them. `base` is what every model has, `linear` the ground of the linear ones. Each folder opens with a
page of its files.
"""
