"""Topics of a collection of texts.

Topics are the parts of an NMF of the words of each text.

Its files, in reading order::

    topics    Topics of a collection of texts.
    counts    Texts as counts of the words that can tell topics apart. Counting is scikit-learn's.
    fit       Topics by non-negative factors, and how good they are: coherence, held-out words, stability, and peers.
    result    What topics were found in a collection of texts, the words that stand for them, and how far to rely on
              them.
    overview  Topics to be read: lines for a terminal, plain facts for JSON, and the page.
"""
