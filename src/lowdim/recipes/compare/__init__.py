"""The same rows through several models, judged by rows that none has seen."""
