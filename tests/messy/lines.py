"""Lines that are odd: titles, units, comments, headers of several lines, notes below; in texts and workbooks."""

from __future__ import annotations

from messy import Messy

BODY = [[1.5, 2.5, "red"], [2.25, 3.5, "blue"], [3.0, 4.75, "red"], [4.75, 5.25, "green"], [5.5, 6.5, "red"]]
X = {"x": [row[0] for row in BODY], "y": [row[1] for row in BODY]}
KIND = {"kind": "^text$"}

LINE_TABLES: dict[str, Messy] = {
    "a line of units": Messy(
        [["x", "y", "kind"], ["cm", "kg", ""], *BODY],
        X,
        KIND,
        said=[r"^line 2 holds units or explanations \(x: cm, y: kg\) and is passed over"],
    ),
    "units in brackets, some absent": Messy(
        [["x", "y", "kind"], ["", "[°C]", "-"], *BODY],
        X,
        KIND,
        said=[r"^line 2 holds units or explanations \(y: \[°C\]\) and is passed over"],
    ),
    "two lines of explanations": Messy(
        [["x", "y", "kind"], ["How long?", "How heavy?", "Which?"], ['{"id":1}', '{"id":2}', '{"id":3}'], *BODY],
        X,
        KIND,
        said=[r"^lines 2 and 3 hold units or explanations \(x: How long\?, y: How heavy\?, …\) and are passed over"],
    ),
    "a title": Messy(
        [["Lab of Dr. X, series 7"], [], ["x", "y", "kind"], *BODY],
        X,
        KIND,
        said=[r"^1 line above the table is passed over: 'Lab of Dr\. X, series 7'"],
    ),
    "a title of several lines": Messy(
        [["Instrument", "FT-7"], ["Operator", "N. N."], ["Date", "2024-01-02"], ["x", "y", "kind"], *BODY],
        X,
        KIND,
        said=[r"^3 lines above the table are passed over: 'Instrument, FT-7', 'Operator, N\. N\.', …"],
    ),
    "comments above": Messy(
        [["# exported by"], ["# an instrument"], ["x", "y", "kind"], *BODY],
        X,
        KIND,
        said=[r"^2 lines that begin with '#' are passed over"],
    ),
    "comments within": Messy(
        [["x", "y", "kind"], *BODY[:2], ["# lamp changed, 12:30"], *BODY[2:]],
        X,
        KIND,
        said=[r"^1 line that begins with '#' is passed over"],
    ),
    "a header of two lines": Messy(
        [["sepal", "", "kind"], ["length", "width", ""], *BODY],
        {"sepal length": X["x"], "sepal width": X["y"]},
        KIND,
        said=[r"^2 lines name the columns and are joined, as 'sepal length'"],
    ),
    "a group above some columns": Messy(
        [["", "before", "after", "kind"], ["x", "y", "y", ""], *([a, b, a + b, kind] for a, b, kind in BODY)],
        {"x": X["x"], "before y": X["y"], "after y": [row[0] + row[1] for row in BODY]},
        KIND,
        said=[r"^2 lines name the columns and are joined, as 'before y'"],
    ),
    "an empty column": Messy(
        [["x", "y", "kind", ""], *([*row, ""] for row in BODY)],
        X,
        KIND,
        said=[r"^1 column without a name is empty and passed over"],
        formats=("csv", "tsv"),  # a workbook holds no cells beside its table
    ),
    "empty rows below": Messy(
        [["x", "y", "kind"], *BODY, ["", "", ""], ["", "", ""]],
        X,
        KIND,
        said=[r"^2 empty rows are passed over"],
        formats=("csv", "tsv"),  # nor below it
    ),
    "a source below": Messy(
        [["x", "y", "kind"], *BODY, [], ["Source: Ministry of Health"]],
        X,
        KIND,
        said=[r"^1 line below the table is passed over: 'Source: Ministry of Health'"],
    ),
    "numbers of the rows without a name": Messy(
        [["", "x", "y", "kind"], *([str(i), *row] for i, row in enumerate(BODY))],
        X,
        {"": "^names of the rows$", "kind": "^text$"},
        said=[r"^the first column has no name and counts the rows: it is taken for their names"],
    ),
    "names of the rows without a name": Messy(
        [["", "x", "y"], *([f"s{i}", *row[:2]] for i, row in enumerate(BODY))],
        X,
        {"": "^names of the rows$"},
        said=[r"^the first column has no name and is different in every row: it is taken for their names"],
    ),
    "lines to skip": Messy([["1", "2", "3"], ["4", "5", "6"], ["x", "y", "kind"], *BODY], X, KIND, opened={"skip": 2}),
    "no header, as was said": Messy(
        [["1", "a", "2"], ["2", "b", "3"], ["3", "c", "4"]],
        {"x0": [1, 2, 3], "x2": [2, 3, 4]},
        {"x1": "^text$"},
        opened={"header": 0},
    ),
    "two lines of header, as was said": Messy(
        [["2019", "2020", "kind"], ["1", "2", ""], *BODY],
        {"2019 1": X["x"], "2020 2": X["y"]},
        KIND,
        opened={"header": 2},
    ),
    "a sign of comments, as was said": Messy(
        [["! made by hand"], ["x", "y", "kind"], *BODY[:3], ["!", "", ""], *BODY[3:]],
        X,
        KIND,
        said=[r"^2 lines that begin with '!' are passed over"],
        opened={"comment": "!"},
    ),
    "repeated names": Messy(
        [["x", "x", "kind"], *BODY], {}, refused=r"the column name 'x' stands more than once; .*header=0"
    ),
    "a header and nothing else": Messy([["x", "y", "kind"]], {}, refused="row"),
    "units in the names": Messy([["x [cm]", "y (kg)", "kind"], *BODY], {"x [cm]": X["x"], "y (kg)": X["y"]}, KIND),
    "numbers for names": Messy(
        [["kind", "2019", "2020"], *([kind, one, two] for one, two, kind in BODY)],
        {"2019": X["x"], "2020": X["y"]},
        KIND,
        said=[r"^the first line holds numbers, 2019, 2020, and is taken for names: header=0 reads it as a row"],
    ),
    "three lines of header, as pandas writes several levels": Messy(
        [
            ["", "before", "before", "after"],
            ["", "x", "y", "x"],
            ["id", "", "", ""],
            *([f"s{i}", a, b, a + b] for i, (a, b, _) in enumerate(BODY)),
        ],
        {"before x": X["x"], "before y": X["y"], "after x": [row[0] + row[1] for row in BODY]},
        {"id": "^names of the rows$"},
        said=[r"^3 lines name the columns and are joined, as 'before x'"],
    ),
    "a row of totals": Messy(
        [["name", "x", "y"], *([f"s{i}", *row[:2]] for i, row in enumerate(BODY)), ["Total", 17.0, 22.5]],
        {"x": [*X["x"], 17.0], "y": [*X["y"], 22.5]},
        {"name": "^names of the rows$"},
        said=[r"^the last row is called 'Total' and is read like the others: where="],
    ),
    "a means row with its label in the first of two columns of text": Messy(
        [["kind", "who", "x", "y"], *([kind, "me", a, b] for a, b, kind in BODY), ["Mean", "", 3.4, 4.5]],
        {"x": [*X["x"], 3.4], "y": [*X["y"], 4.5]},
        {"kind": "^text$", "who": "^text$"},
        said=[r"^the last row is called 'Mean' and is read like the others: where="],
    ),
    "two tables side by side": Messy(
        [["x", "kind", "", "y", "day"], *([a, kind, "", b, "2024-01-02"] for a, b, kind in BODY)],
        {"x": X["x"], "y": X["y"]},
        {"kind": "^text$", "day": "^time$"},
        said=[r"^1 column without a name is empty and passed over"],
    ),
    "pairs of columns under the names of samples": Messy(
        [
            ["Sample 1", "", "Sample 2", ""],
            ["Wavelength (nm)", "Abs", "Wavelength (nm)", "Abs"],
            *([400 + 0.5 * i, row[0], 400 + 0.5 * i, row[1]] for i, row in enumerate(BODY)),
        ],
        {
            "Sample 1 Wavelength (nm)": [400, 400.5, 401, 401.5, 402],
            "Sample 1 Abs": X["x"],
            "Sample 2 Wavelength (nm)": [400, 400.5, 401, 401.5, 402],
            "Sample 2 Abs": X["y"],
        },
        said=[r"^2 lines name the columns and are joined, as 'Sample 1 Wavelength \(nm\)'"],
    ),
    "a thermal cycler's results": Messy(
        [
            ["Block Type", "96-Well"],
            ["Experiment Name", "run 7"],
            ["Passive Reference", "ROX"],
            [],
            ["[Results]"],
            ["Well", "Sample Name", "CT", "Tm"],
            *([f"A{i}", kind, a, b] for i, (a, b, kind) in enumerate(BODY)),
        ],
        {"CT": X["x"], "Tm": X["y"]},
        {"Well": "^names of the rows$", "Sample Name": "^text$"},
        said=[r"^4 lines above the table are passed over: 'Block Type, 96-Well', 'Experiment Name, run 7', …"],
    ),
    "a series matrix of microarrays": Messy(
        [
            ["!Series_title", "a study"],
            ["!Sample_title", "s1", "s2"],
            ["!series_matrix_table_begin"],
            ["ID_REF", "GSM1", "GSM2"],
            *([f"{i}_at", *row[:2]] for i, row in enumerate(BODY)),
            ["!series_matrix_table_end"],
        ],
        {"GSM1": X["x"], "GSM2": X["y"]},
        {"ID_REF": "^names of the rows$"},
        said=[
            r"^3 lines above the table are passed over: '!Series_title, a study', '!Sample_title, s1, s2', …",
            r"^1 line below the table is passed over: '!series_matrix_table_end'",
        ],
    ),
    "indicators of a bank": Messy(
        [
            ["Data Source", "World Development Indicators", ""],
            [],
            ["Last Updated Date", "2024-03-28", ""],
            [],
            ["Country", "2019", "2020"],
            ["Aruba", 1.5, 2.5],
            ["Angola", "..", 3.5],
            ["Albania", 3.0, ".."],
        ],
        {"2019": [1.5, None, 3.0], "2020": [2.5, 3.5, None]},
        {"Country": "^names of the rows$"},
        said=[
            r"^2 lines above the table are passed over: 'Data Source, World Development Indicators', "
            r"'Last Updated Date, 2024-03-28'",
            r"^the first line holds numbers, 2019, 2020, and is taken for names: header=0 reads it as a row",
            r"^2019: 1 of 3 cells is read as missing: '\.\.'",
            r"^2020: 1 of 3 cells is read as missing: '\.\.'",
        ],
    ),
    "a part of the sheet, as was said": Messy(
        [["Lab"], ["", "x", "y", "kind"], *(["", *row] for row in BODY), ["", "n", 5, ""]],
        X,
        KIND,
        opened={"range": "B2:D7"},
    ),
    "rows of a part, names elsewhere": Messy(
        [["x", "y", "kind"], *BODY],
        {"x": X["x"][1:], "y": X["y"][1:]},
        KIND,
        opened={"range": "A1:C6", "where": "x > 2"},
    ),
    "a header of nothing but numbers": Messy(
        [[str(400 + 10 * i) for i in range(9)], *([a + i / 8 for i in range(9)] for a in (0.5, 0.75, 1.0))],
        {str(400 + 10 * i): [a + i / 8 for a in (0.5, 0.75, 1.0)] for i in range(9)},
        said=[r"^the first line holds numbers, 400, 410, 420, …, and is taken for names: header=0 reads it as a row"],
    ),
    "dates for names": Messy(
        [
            ["station", "2024-01-01", "2024-01-02", "2024-01-03"],
            ["a", 1.5, 2.5, 3.5],
            ["b", 2.5, 3.5, 4.75],
            ["c", 1.0, 2.0, 4.0],
        ],
        {"2024-01-01": [1.5, 2.5, 1.0], "2024-01-02": [2.5, 3.5, 2.0], "2024-01-03": [3.5, 4.75, 4.0]},
        {"station": "^names of the rows$"},
    ),
}
"""Lines that are odd: titles, units, comments, headers of several lines."""
