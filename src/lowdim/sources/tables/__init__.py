"""Tables as people have them: rows of cells, columns of any kind, and what becomes of them on the way to numbers.

Its files, in reading order::

    table         What a reader of tables must do (`TableReader`), and the source made of any of them.
    cells         Numbers as people write them: units, thousands, limits of detection, words for missing.
    text_columns  Columns of text that hold numbers, flags or times: judged, said, read.
    layout        Where a table is among lines: titles, comments, names in several lines, lines of units.
    rows          A table among lines of cells: a sheet, a small text.
    wide          Lines of many numbers: parsed as rows, where readers of columns pay for each column.
    roles         Columns that are no measurements: names, running numbers, class codes.
    choose        Which of several tables in a file.
    several       Several files as one table.
    changed       Some rows of a table, columns for rows, columns in memory.

Nothing is left out, guessed or read as missing without a `TableNote` that says so.
"""
