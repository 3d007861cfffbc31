"""Looking at results: text, plots, pages, and what goes out to files. Nothing here fits."""
