"""Where rows come from: names, row counts, blocks. No algebra is done here."""
