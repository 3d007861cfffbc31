"""Files whose parsers can be killed or exhausted, read by a child process that has limits.

Its files, in reading order::

    wire     What a child and its parent say to each other: plain values and arrays as bytes, never pickles.
    limits   What a child may take: memory, time, files, no network; and where a system cannot say so.
    process  A child: started, asked, ended; its death as one sentence.
    tables   Tables and arrays whose rows come from a child.
    child    What runs in it.

Which kinds of files are read so, and what is promised, is in docs/strangers-files.md.
"""
