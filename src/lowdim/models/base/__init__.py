"""What every model has: input and output, parameters, files, plots, reports, uncertainty."""
