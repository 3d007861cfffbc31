"""Looking at results: text, figures' data, plots. Nothing here fits."""
