"""`model.table(name)` of linear models, a subject a file; `catalogue` lists them all."""
