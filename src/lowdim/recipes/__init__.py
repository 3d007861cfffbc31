"""Jobs made of models: a folder a job, with what it does, what it gives back, and how that is looked at."""
