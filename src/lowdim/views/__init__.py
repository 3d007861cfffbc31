"""Looking at results: text, figures' data, plots, and what goes out to files. Nothing here fits."""
