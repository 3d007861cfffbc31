"""Where rows come from. A source gives rows in blocks; everything large is a fold over them (`Source.reduce`).

Its files, in reading order::

    source      What a source is: names, counts, blocks, `reduce`; and sources that wrap another.
    open        `lowdim.open`: whatever holds rows becomes a source.
    files       What paths lead to, opened.
    kinds       What kind of file a path leads to, and which reader opens it.
    unchanged   Whether files are still those that were opened.
    columns     Which columns of a table are used, dropped, kept aside, or coded as numbers.
    arrays      Arrays in memory, dense and sparse, of NumPy and other libraries; checks of shape and type.
    compiled_structure  Whether sparse places lie in their matrix, and none is there twice, in compiled code.
    frames      Data frames of any library.
    stream      Iterators of row blocks, which are read once.
    wrapped     Sources made of another: some of its rows, scaled, with missing values; and row weights.
    dask        Dask arrays and frames: folds run where the data are.
    tables/     Tables as people have them, whatever they are read from.
    formats/    Files, one format a file.
    isolated/   Files whose parsers a file can end, read by a child process with limits.
    genotypes/  Genotypes in PLINK files, and SNPs.

Blocks are never written to. The same blocks give the same bits, whatever the number of threads. Nothing is loaded that
was pickled, nothing is followed out of a file, and sizes are checked before anything is unpacked.
"""
