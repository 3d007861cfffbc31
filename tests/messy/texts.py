"""Ways of writing a text table: separators, encodings, blanks, ends of lines, exports of programs."""

from __future__ import annotations

from messy import Messy
from messy.lines import KIND

TEXT_TABLES: dict[str, Messy] = {
    "semicolons and decimal commas": Messy(
        "x;y;kind\n1,5;2,5;red\n2,25;3,5;blue\n3,0;4,75;red\n", {"x": [1.5, 2.25, 3.0], "y": [2.5, 3.5, 4.75]}, KIND
    ),
    "semicolons, decimal commas, points for thousands": Messy(
        "x;y\n1.000,5;2,5\n2.250,25;3,5\n3,0;4,75\n",
        {"x": [1000.5, 2250.25, 3.0], "y": [2.5, 3.5, 4.75]},
        said=[r"^x: the point in '1\.000,5' is read as a separator of thousands"],
    ),
    "Excel's hint": Messy(
        "sep=;\nx;y\n1.5;2.5\n2.25;3.5\n",
        {"x": [1.5, 2.25], "y": [2.5, 3.5]},
        said=[r"^1 line above the table is passed over: 'sep=;'"],
    ),
    "written by R, row names without a name": Messy(
        '"x" "y"\n"r1" 1.5 2.5\n"r2" 2.25 3.5\n"r3" 3 4.75\n',
        {"x": [1.5, 2.25, 3.0], "y": [2.5, 3.5, 4.75]},
        {"": "^names of the rows$"},
        said=[r"^the first column has no name and is different in every row: it is taken for their names"],
    ),
    "written by R, row names as a column": Messy(
        '"","x","y"\n"1",1.5,2.5\n"2",2.25,3.5\n"3",3,4.75\n',
        {"x": [1.5, 2.25, 3.0], "y": [2.5, 3.5, 4.75]},
        {"": "^names of the rows$"},
        said=[r"^the first column has no name and counts the rows: it is taken for their names"],
    ),
    "written by NumPy": Messy(
        "# x y\n1.500e+00 2.500e+00\n2.250e+00 3.500e+00\n",
        {"x": [1.5, 2.25], "y": [2.5, 3.5]},
        said=[r"^the names of the columns are read from the comment '# x y'"],
    ),
    "aligned by blanks": Messy(
        "   x      y   kind\n  1.5    2.5  red\n  2.25   3.5  blue\n 10.0  104.75 red\n",
        {"x": [1.5, 2.25, 10.0], "y": [2.5, 3.5, 104.75]},
        KIND,
    ),
    "variants of a genome": Messy(
        "##source=x\n##date=2024\n#POS\tQUAL\tREF\n11\t2.5\tA\n25\t3.5\tC\n",
        {"POS": [11, 25], "QUAL": [2.5, 3.5]},
        {"REF": "^text$"},
        said=[
            r"^2 lines that begin with '#' are passed over",
            r"^the names of the columns are read from the comment '#POS QUAL REF'",
        ],
    ),
    "Latin letters": Messy("größe;kind\n1,5;grün\n2,25;weiß\n".encode("cp1252"), {"größe": [1.5, 2.25]}, KIND),
    "UTF-16": Messy("x\tkind\n1.5\tgrün\n2.25\tweiß\n".encode("utf-16"), {"x": [1.5, 2.25]}, KIND),
    "a mark of UTF-8": Messy("x,kind\n1.5,grün\n2.25,weiß\n".encode("utf-8-sig"), {"x": [1.5, 2.25]}, KIND),
    "lines of Windows": Messy("x,kind\r\n1.5,a\r\n2.25,b\r\n", {"x": [1.5, 2.25]}, KIND),
    "semicolons at the ends of lines": Messy(
        "x;y;\n1,5;2,5;\n2,25;3,5;\n",
        {"x": [1.5, 2.25], "y": [2.5, 3.5]},
        said=[r"^1 column without a name is empty and passed over"],
    ),
    "semicolons at the ends of lines but the header's": Messy(
        "x;y\n1,5;2,5;\n2,25;3,5;\n",
        {"x": [1.5, 2.25], "y": [2.5, 3.5]},
        said=[r"^1 column without a name is empty and passed over"],
    ),
    "a line that is too long": Messy(
        "x,y\n1,2\n3,4\n5,6,7\n8,9\n", {}, refused=r"line 4 has 3 cells, but the table has 2 columns.*quotes"
    ),
    "a line that is too short": Messy(
        "x,y,z\n1,2,3\n3,4,5\n5,6\n8,9,1\n", {}, refused=r"line 4 has 2 cells, but the table has 3 columns"
    ),
    "a limit further down than was looked": Messy(
        "x,y\n" + "1.5,2.5\n" * 60_000 + "<0.1,3.5\n",
        {"x": [1.5] * 60_000 + [None], "y": [2.5] * 60_000 + [3.5]},
        said=[r"^x: 1 of 60,001 cells is read as missing: '<0\.1' \(below a limit\)"],
    ),
    "a word further down than was looked": Messy(
        "x,y\n" + "1.5,2.5\n" * 60_000 + "lost,3.5\n",
        {},
        refused=r"x is 'lost' in row 60,001.*missing='lost'",
    ),
    "nothing but text": Messy("x,y\na,b\nc,d\n", {}, refused="none of its 2 columns holds numbers"),
    "numbers of a spreadsheet in quotes": Messy(
        '"x","kind"\n"1.5","a"\n"2.25","b"\n"3","a"\n', {"x": [1.5, 2.25, 3]}, KIND
    ),
    "names in several lines of a cell": Messy(
        '"x\n[cm]",kind\n1.5,a\n2.25,b\n3.5,a\n', {"x [cm]": [1.5, 2.25, 3.5]}, KIND
    ),
    "commas in a file called tsv": Messy(
        "x,kind\n1.5,a\n2.25,b\n3.5,a\n", {"x": [1.5, 2.25, 3.5]}, KIND, formats=("tsv",)
    ),
    "tabs in a file called csv": Messy("x\tkind\n1.5\ta\n2.25\tb\n3.5\ta\n", {"x": [1.5, 2.25, 3.5]}, KIND),
    "lines of old computers": Messy("x,kind\r1.5,a\r2.25,b\r3.5,a\r", {"x": [1.5, 2.25, 3.5]}, KIND),
    "blank lines between rows": Messy("x,kind\n\n1.5,a\n\n2.25,b\n\n3.5,a\n\n", {"x": [1.5, 2.25, 3.5]}, KIND),
    "a title with the separator in it": Messy(
        "Lab of Dr. X, series 7\nx,y,kind\n1.5,2.5,a\n2.25,3.5,b\n3.5,4.5,a\n",
        {"x": [1.5, 2.25, 3.5], "y": [2.5, 3.5, 4.5]},
        KIND,
        said=[r"^1 line above the table is passed over: 'Lab of Dr\. X, series 7'"],
    ),
    "measurements of an octave": Messy(
        "# Created by Octave\n# name: X\n# type: matrix\n# rows: 3\n# columns: 2\n 1.5 2.5\n 2.25 3.5\n 3 4.75\n",
        {"x0": [1.5, 2.25, 3.0], "x1": [2.5, 3.5, 4.75]},
        said=[r"^5 lines that begin with '#' are passed over"],
    ),
    "written by R, with semicolons": Messy(
        '"";"x";"kind"\n"1";1,5;"a"\n"2";NA;"b"\n"3";3,25;"a"\n',
        {"x": [1.5, None, 3.25]},
        {"": "^names of the rows$", **KIND},
        said=[r"^the first column has no name and counts the rows: it is taken for their names"],
    ),
    "a decimal comma and exponents": Messy(
        "x;kind\n1,5E+03;a\n2,25E-02;b\n3,5E+00;a\n", {"x": [1500, 0.0225, 3.5]}, KIND
    ),
    "no header, a column of names": Messy(
        "a,1.5,2.5\nb,2.25,3.5\nc,3.5,4.75\n",
        {"x1": [1.5, 2.25, 3.5], "x2": [2.5, 3.5, 4.75]},
        {"x0": "^names of the rows$"},
    ),
    "quotes within quotes": Messy(
        'x,kind\n1.5,"say ""a"""\n2.25,"b, c"\n3.5,"say ""a"""\n', {"x": [1.5, 2.25, 3.5]}, KIND
    ),
    "blanks after commas": Messy(
        "x, y, kind\n1.5, 2.5, a\n2.25, 3.5, b\n3, 4.5, a\n", {"x": [1.5, 2.25, 3], "y": [2.5, 3.5, 4.5]}, KIND
    ),
    "a log of a sensor": Messy(
        "Logger TH-7;;\nSerial;0815;\nDate;Temp [°C];Hum [%]\n01.02.2024 10:00;21,5;45\n01.02.2024 10:10;21,75;44\n"
        "01.02.2024 10:20;22,0;43,5\n",
        {"Temp [°C]": [21.5, 21.75, 22.0], "Hum [%]": [45, 44, 43.5]},
        {"Date": "^time$"},
        said=[r"^2 lines above the table are passed over: 'Logger TH-7', 'Serial, 0815'"],
    ),
    "a comment far down": Messy(
        "x,y\n" + "1.5,2.5\n" * 60_000 + "# lamp changed\n2.5,3.5\n",
        {"x": [1.5] * 60_000 + [2.5], "y": [2.5] * 60_000 + [3.5]},
        said=[r"^1 line that begins with '#' is passed over"],
        opened={"comment": "#"},
    ),
    "a source far down": Messy(
        "x,y\n" + "1.5,2.5\n" * 60_000 + "Source: Ministry of Health\n",
        {"x": [1.5] * 60_000, "y": [2.5] * 60_000},
        said=[r"^1 line below the table is passed over: 'Source: Ministry of Health'"],
    ),
    "a line that is too long, far down": Messy(
        "x,y\n" + "1.5,2.5\n" * 60_000 + "5,6,7\n1,2\n",
        {},
        refused=r"line 60,002 has 3 cells, but the table has 2 columns.*quotes",
    ),
}
"""Ways of writing a text table."""
