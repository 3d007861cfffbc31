"""The ground of the linear models: one fit, one page, tables and figures that all of them share."""
