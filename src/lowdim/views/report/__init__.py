"""A report as one HTML file that can be e-mailed: its parts, what a fit says in them, and the file."""

from lowdim.views.report.beside import Beside, RowColour, colour_column
from lowdim.views.report.linear import linear_payload
from lowdim.views.report.page import write_report
from lowdim.views.report.payload import Payload, Section

__all__ = [
    "Beside",
    "Payload",
    "RowColour",
    "Section",
    "colour_column",
    "linear_payload",
    "write_report",
]
