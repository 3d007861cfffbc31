"""A report as one HTML file that can be e-mailed. `frontend/` has the script that draws it.

In reading order::

    payload    The parts of a page, what a report knows beside the fit, and the rows that it shows.
    sections   What only some models have to show: missing values, intervals, parts, searches, tables.
    encode     Arrays and small pictures inside JSON.
    page       The page of a fit, and the file with script, style and data in it.
"""
