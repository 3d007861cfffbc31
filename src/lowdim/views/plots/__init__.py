"""What figures are made of.

In reading order::

    canvas           Axes, colours for light and dark paper, files. The only file that imports matplotlib.
    groups           What the colour of points says: their group, or a number.
    points           Points with their legend, and names where there is room for them.
    scores           Rows along one, two or three components.
    rows             Rows and columns in one picture, and rows that are unlike the others: the numbers.
    k_choice         How many components: the scree above what every rule says.
    missing          Missing values of a table, what fills them and how sure that is.
    pictures         Rows as small pictures: the colours of their pixels, and mosaics of them.
    representations  Bases and codes as pictures, and the columns that stand out in a row.
"""
