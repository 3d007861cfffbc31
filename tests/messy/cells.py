"""Cells that are odd: limits, words, thousands, units, codes, dates; in every format."""

from __future__ import annotations

from messy import CELLS, A, Messy, N, beside, read

CELL_TABLES: dict[str, Messy] = {
    "a detection limit": Messy(
        beside(["0.3", "0.4", "<0.1", "0.7", "0.2", "0.9"]),
        read([0.3, 0.4, N, 0.7, 0.2, 0.9]),
        said=[r"^x: 1 of 6 cells is read as missing: '<0\.1' \(below a limit\)"],
    ),
    "several detection limits": Messy(
        beside(["0.3", "<0.5", "<0.1", "0.7", "< LOD", "0.9", "<0.1", "2"]),
        read([0.3, N, N, 0.7, N, 0.9, N, 2.0]),
        said=[r"^x: 4 of 8 cells are read as missing: '<0\.1' \(2 times\), '<0\.5', '< LOD' \(below a limit\)"],
    ),
    "an upper limit": Messy(
        beside(["30", ">100", "50", "70", "≥ 100", "90"]),
        read([30, N, 50, 70, N, 90]),
        said=[r"^x: 2 of 6 cells are read as missing: '>100', '≥ 100' \(above a limit\)"],
    ),
    "not detected": Messy(
        beside(["0.3", "n.d.", "0.5", "0.7", "n.d.", "0.9"]),
        read([0.3, N, 0.5, 0.7, N, 0.9]),
        said=[r"^x: 2 of 6 cells are read as missing: 'n\.d\.' \(2 times\)"],
    ),
    "laboratory words": Messy(
        beside(["0.3", "ND", "BDL", "0.7", "not measured", "0.9", "n.a.", "0.1"]),
        read([0.3, N, N, 0.7, N, 0.9, N, 0.1]),
        said=[r"^x: 4 of 8 cells are read as missing: 'ND', 'BDL', 'not measured', 'n\.a\.'"],
    ),
    "usual words for missing": Messy(
        beside(["0.3", "NA", "", "0.7", "NaN", "0.9"]),
        read([0.3, N, N, 0.7, N, 0.9]),
    ),
    "thousands": Messy(
        beside(["266,920", "1,204", "980", "12,000", "1,204,511", "3"]),
        read([266920, 1204, 980, 12000, 1204511, 3]),
        said=[r"^x: the comma in '266,920' is read as a separator of thousands"],
    ),
    "thousands and decimals": Messy(
        beside(["1,234.5", "980.25", "12,000.0", "7.5"]),
        read([1234.5, 980.25, 12000, 7.5]),
        said=[r"^x: the comma in '1,234\.5' is read as a separator of thousands"],
    ),
    "thousands with points": Messy(
        beside(["1.000,5", "2.345,75", "980,5", "12.000,25"]),
        read([1000.5, 2345.75, 980.5, 12000.25]),
        said=[r"^x: the comma in '1\.000,5' is read as a decimal mark, the point as a separator of thousands"],
    ),
    "decimal comma in one column": Messy(
        beside(["1,5", "2,25", "980,5", "0,125"]),
        read([1.5, 2.25, 980.5, 0.125]),
        said=[r"^x: the comma in '1,5' is read as a decimal mark"],
    ),
    "thousands with blanks": Messy(
        beside(["1 234", "980", "12\u00a0000", "1\u202f204\u202f511"]),
        read([1234, 980, 12000, 1204511]),
        said=[r"^x: the blank in '1 234' is read as a separator of thousands"],
    ),
    "thousands with apostrophes": Messy(
        beside(["1'234.5", "980", "12'000", "7.5"]),
        read([1234.5, 980, 12000, 7.5]),
        said=[r"^x: the apostrophe in '1'234\.5' is read as a separator of thousands"],
    ),
    "a unit": Messy(
        beside(["0.5 mg", "0.7 mg", "1.25mg", "2 mg", "3 mg", "4 mg"]),
        read([0.5, 0.7, 1.25, 2, 3, 4]),
        said=[r"^x: the unit 'mg' is taken off, as in '0\.5 mg'"],
    ),
    "a unit now and then": Messy(
        beside(["0.5", "0.7 mg", "1.25", "2", "3", "4"]),
        read([0.5, 0.7, 1.25, 2, 3, 4]),
        said=[r"^x: the unit 'mg' is taken off, as in '0\.7 mg'; 5 of 6 cells have none"],
    ),
    "two units": Messy(
        beside(["500 mg", "0.7 g", "250 mg", "2 g", "300 mg", "4 g"]),
        {"a": A[:6]},
        left_out={"x": "numbers in 2 units"},
        said=[r"^x is left out: its numbers have different units, 'mg' \(3 cells\) and 'g' \(3 cells\); .*one unit"],
    ),
    "percentages": Messy(
        beside(["12.5%", "0.7 %", "100%", "33.3%"]),
        read([12.5, 0.7, 100, 33.3]),
        said=[r"^x: the unit '%' is taken off, as in '12\.5%'"],
    ),
    "money": Messy(
        beside(["$1,200.50", "$7.25", "$-3.00", "$12,000.00"]),
        read([1200.5, 7.25, -3, 12000]),
        said=[
            r"^x: the comma in '\$1,200\.50' is read as a separator of thousands",
            r"^x: the unit '\$' is taken off, as in '\$1,200\.50'",
        ],
    ),
    "negative numbers in brackets": Messy(
        beside(["12.5", "(7.25)", "3", "(100)"]),
        read([12.5, -7.25, 3, -100]),
        said=[r"^x: brackets are read as a minus sign, as in '\(7\.25\)'"],
    ),
    "minus signs of typesetters": Messy(
        beside(["−1.5", "2.5", "−0.25", "4"]),
        read([-1.5, 2.5, -0.25, 4]),
        said=[r"^x: '−' is read as a minus sign, as in '−1\.5'"],
    ),
    "blanks around numbers": Messy(
        beside([" 1.5", "2.5 ", " 0.25 ", "4"]),
        read([1.5, 2.5, 0.25, 4]),
    ),
    "exponents": Messy(beside(["1.5E+03", "2e-5", "7", "-4.5e0"]), read([1500, 2e-5, 7, -4.5])),
    "errors of a spreadsheet": Messy(
        beside(["1.5", "#DIV/0!", "0.25", "4", "#VALUE!", "6"]),
        read([1.5, N, 0.25, 4, N, 6]),
        said=[r"^x: 2 of 6 cells are read as missing: '#DIV/0!', '#VALUE!'"],
    ),
    "a word among numbers": Messy(
        beside(["0.3", "0.4", "hemolyzed", "0.7", "0.2", "0.9", "1.1", "1.2"]),
        {"a": A},
        left_out={"x": "numbers but for 1 cell"},
        said=[r"^x is left out: 7 of 8 cells are numbers, but not 'hemolyzed' \(row 3\); missing='hemolyzed' reads"],
    ),
    "several words among numbers": Messy(
        beside(["0.3", "lost", "spilled", "0.7", "0.2", "lost", "1.1", "1.2"]),
        {"a": A},
        left_out={"x": "numbers but for 3 cells"},
        said=[
            r"^x is left out: 5 of 8 cells are numbers, but not 'lost' \(2 times, first in row 2\) and 'spilled' "
            r"\(row 3\); missing='lost,spilled' reads"
        ],
    ),
    "a word that was said to be missing": Messy(
        beside(["0.3", "0.4", "hemolyzed", "0.7", "0.2", "0.9", "1.1", "1.2"]),
        read([0.3, 0.4, N, 0.7, 0.2, 0.9, 1.1, 1.2]),
        said=[r"^x: 1 of 8 cells is read as missing: 'hemolyzed'"],
        opened={"missing": "hemolyzed"},
    ),
    "a number that stands for missing, said": Messy(
        beside(["0.3", "0.4", "-999", "0.7", "-999", "0.9"]),
        read([0.3, 0.4, N, 0.7, N, 0.9]),
        said=[r"^x: 2 of 6 cells are read as missing: '-999' \(2 times\)"],
        opened={"missing": "-999"},
    ),
    "true and false": Messy(beside(["true", "false", "false", "true"]), read([1, 0, 0, 1])),
    "TRUE and FALSE with a hole": Messy(beside(["TRUE", "FALSE", "NA", "TRUE"]), read([1, 0, N, 1])),
    "dates": Messy(
        beside(["2024-01-31", "2024-02-01", "2024-02-02", "2024-03-31"]),
        {"a": A[:4]},
        left_out={"x": "^time$"},
    ),
    "moments": Messy(
        beside(["2024-01-31 10:20:00", "2024-02-01 11:00:05", "2024-02-02T00:00:00Z", "2024-03-31 08:00"]),
        {"a": A[:4]},
        left_out={"x": "^time$"},
    ),
    "dates with points": Messy(
        beside(["31.01.2024", "01.02.2024", "02.02.2024", "31.03.2024"]),
        {"a": A[:4]},
        left_out={"x": "^time$"},
    ),
    "words": Messy(beside(["red", "green", "blue", "red"]), {"a": A[:4]}, left_out={"x": "^text$"}),
    "numbers with their errors": Messy(
        beside(["5.1 ± 0.2", "4.9 ± 0.1", "6.0 ± 0.3", "5.5 ± 0.2"]),
        {"a": A[:4]},
        left_out={"x": "^text that begins with numbers$"},
        said=[r"^x is left out: its cells begin with numbers, but go on, as '5\.1 ± 0\.2' \(row 1\)"],
    ),
    "ranges": Messy(
        beside(["10-20", "20-30", "30-40", "10-20"]),
        {"a": A[:4]},
        left_out={"x": "^text that begins with numbers$"},
        said=[r"^x is left out: its cells begin with numbers, but go on, as '10-20' \(row 1\)"],
    ),
    "answers with their codes": Messy(
        beside(["1 = no", "2 = yes", "1 = no", "2 = yes", "2 = yes", "1 = no"]),
        {"a": A[:6]},
        left_out={"x": "^text that begins with numbers$"},
        said=[r"^x is left out: its cells begin with numbers, but go on, as '1 = no' \(row 1\)"],
    ),
    "everything at once": Messy(
        beside(["1,200 mg", "<5 mg", "n.d.", "950 mg", "1,050.5 mg", "NA", "880 mg", "900 mg"]),
        read([1200, N, N, 950, 1050.5, N, 880, 900]),
        said=[
            r"^x: 2 of 8 cells are read as missing: '<5 mg' \(below a limit\), 'n\.d\.'",
            r"^x: the comma in '1,200 mg' is read as a separator of thousands",
            r"^x: the unit 'mg' is taken off, as in '1,200 mg'",
        ],
    ),
    "a label of numbers": Messy(
        [["a", "x", "kind"], *([one, two, kind] for one, two, kind in zip(A, reversed(A), [0, 1] * 4, strict=True))],
        {"a": A, "x": A[::-1]},
        opened={"label": "kind"},
    ),
    "codes with leading zeros": Messy(
        beside(["00123", "04511", "10115", "80331", "01067", "20095"]),
        read([123, 4511, 10115, 80331, 1067, 20095]),
        said=[r"^x: '00123' begins with a zero, as codes do: drop=\['x'\] leaves the column out"],
    ),
    "a number that stands for missing, not said": Messy(
        beside(["0.3", "0.4", "-999", "0.7", "-999", "0.9", "0.35", "0.6"]),
        read([0.3, 0.4, -999, 0.7, -999, 0.9, 0.35, 0.6]),
        said=[r"^x is -999 in 2 of 8 cells, far from all others: missing='-999' reads it as missing"],
    ),
    "a number far away that is no code": Messy(
        beside(["0.3", "0.4", "-998.7", "0.7", "0.2", "0.9"]), read([0.3, 0.4, -998.7, 0.7, 0.2, 0.9])
    ),
    "several words, said": Messy(
        beside(["0.3", "lost", "spilled", "0.7", "0.2", "lost", "1.1", "1.2"]),
        read([0.3, N, N, 0.7, 0.2, N, 1.1, 1.2]),
        said=[r"^x: 3 of 8 cells are read as missing: 'lost' \(2 times\), 'spilled'"],
        opened={"missing": ["lost", "spilled"]},
    ),
    "Undetermined, as thermal cyclers write": Messy(
        beside(["24.31", "Undetermined", "25.02", "31.7", "Undetermined", "28.4"]),
        read([24.31, N, 25.02, 31.7, N, 28.4]),
        said=[r"^x: 2 of 6 cells are read as missing: 'Undetermined' \(2 times\)"],
    ),
    "OVRFLW, as plate readers write": Messy(
        beside(["1024", "OVRFLW", "2048", "977", "OVRFLW", "3000"]),
        read([1024, N, 2048, 977, N, 3000]),
        said=[r"^x: 2 of 6 cells are read as missing: 'OVRFLW' \(2 times\) \(above a limit\)"],
    ),
    "limits with units": Messy(
        beside(["0.3 mg/L", "<0.05 mg/L", "0.7 mg/L", "1.2 mg/L", "0.4 mg/L", "0.9 mg/L"]),
        read([0.3, N, 0.7, 1.2, 0.4, 0.9]),
        said=[
            r"^x: 1 of 6 cells is read as missing: '<0\.05 mg/L' \(below a limit\)",
            r"^x: the unit 'mg/L' is taken off, as in '0\.3 mg/L'",
        ],
    ),
    "degrees": Messy(
        beside(["23.5 °C", "-4.0 °C", "17 °C", "30.25 °C"]),
        read([23.5, -4, 17, 30.25]),
        said=[r"^x: the unit '°C' is taken off, as in '23\.5 °C'"],
    ),
    "euros after the number": Messy(
        beside(["1.234,56 €", "7,25 €", "-3,00 €", "12.000,00 €"]),
        read([1234.56, 7.25, -3, 12000]),
        said=[
            r"^x: the comma in '1\.234,56 €' is read as a decimal mark, the point as a separator of thousands",
            r"^x: the unit '€' is taken off, as in '1\.234,56 €'",
        ],
    ),
    "blanks for thousands, a comma for decimals": Messy(
        beside(["1 234,5", "980,25", "12 000,0", "7,5"]),
        read([1234.5, 980.25, 12000, 7.5]),
        said=[r"^x: the comma in '1 234,5' is read as a decimal mark, the blank as a separator of thousands"],
    ),
    "footnotes": Messy(
        beside(["5.1*", "4.9", "6.0†", "5.5", "5.0", "6.2"]),
        {"a": A[:6]},
        left_out={"x": "^numbers but for 2 cells$"},
        said=[
            r"^x is left out: 4 of 6 cells are numbers, but not '5\.1\*' \(row 1\) and '6\.0†' \(row 3\); "
            r"missing='5\.1\*,6\.0†' reads them as missing"
        ],
    ),
    "flags of a statistical office": Messy(
        beside(["12.3 p", "11.8", "10.4 e", ":", "9.7", "10.1", "9.9 p", "12"]),
        {"a": A},
        left_out={"x": "^numbers but for 1 cell$"},
        said=[r"^x is left out: 7 of 8 cells are numbers, but not ':' \(row 4\); missing=':' reads it as missing"],
    ),
    "two units, one of them rare": Messy(
        beside(["12.3 p", "11.8", "10.4 e", "10.2", "9.7", "10.1", "9.9 p", "12"]),
        {"a": A},
        left_out={"x": "numbers in 2 units"},
        said=[r"^x is left out: its numbers have different units, 'p' \(2 cells\) and 'e' \(1 cell\)"],
    ),
    "yes and no": Messy(beside(["yes", "no", "no", "yes"]), {"a": A[:4]}, left_out={"x": "^text$"}),
    "uncertainties of crystallographers": Messy(
        beside(["5.431(2)", "5.658(1)", "3.567(3)", "4.360(2)"]),
        {"a": A[:4]},
        left_out={"x": "^text that begins with numbers$"},
        said=[r"^x is left out: its cells begin with numbers, but go on, as '5\.431\(2\)' \(row 1\)"],
    ),
    "answers with numbers behind": Messy(
        beside(["agree (4)", "strongly agree (5)", "agree (4)", "neutral (3)"]), {"a": A[:4]}, left_out={"x": "^text$"}
    ),
    "times of day": Messy(beside(["12:30", "13:45", "09:10", "23:59"]), {"a": A[:4]}, left_out={"x": "^time$"}),
    "infinite": Messy(
        beside(["1.5", "Inf", "-Inf", "4"]),
        read([1.5, float("inf"), float("-inf"), 4]),
        formats=tuple(form for form in CELLS if form != "xlsx"),  # workbooks have no infinite numbers
    ),
    "hexadecimal": Messy(
        beside(["0x1F", "0x20", "0xFF", "0x00"]),
        {"a": A[:4]},
        left_out={"x": "^text that begins"},
        said=[r"^x is left out: its cells begin with numbers, but go on, as '0x1F' \(row 1\)"],
    ),
    "nothing in a column": Messy(beside(["", "", "", ""]), {"a": A[:4]}, left_out={"x": "^empty$"}),
    "a number among words": Messy(
        beside(["red", "green", "7", "red", "blue", "red"]), {"a": A[:6]}, left_out={"x": "^text$"}
    ),
    "lists in a text": Messy(
        beside(["[0.1, 0.2]", "[0.3, 0.4]", "[0.5, 0.6]", "[0.7, 0.8]"]),
        {"a": A[:4]},
        left_out={"x": "^lists written as text$"},
        said=[r"^x is left out: its cells are lists written as text, as '\[0\.1, 0\.2\]'"],
    ),
}
"""Cells that are odd, in every format."""
