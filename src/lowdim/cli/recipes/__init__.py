"""Verbs that do a job made of models: choosing, comparing, topics, pictures, recognition."""
