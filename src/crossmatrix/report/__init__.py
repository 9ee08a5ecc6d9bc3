"""Reports: everything here reads records alone, so that a report can be rendered again a year later."""

from crossmatrix.report.board import Board, PlainBoard, Watcher, board_for
from crossmatrix.report.conclusion import conclude, headline
from crossmatrix.report.files import write_reports
from crossmatrix.report.junit import render_junit
from crossmatrix.report.markdown import render_markdown
from crossmatrix.report.page import render_html
from crossmatrix.report.summary import render_json
from crossmatrix.report.tables import plan_json, print_rows, render_list, render_plan
from crossmatrix.report.terminal import print_report

__all__ = [
    "Board",
    "PlainBoard",
    "Watcher",
    "board_for",
    "conclude",
    "headline",
    "plan_json",
    "print_report",
    "print_rows",
    "render_html",
    "render_json",
    "render_junit",
    "render_list",
    "render_markdown",
    "render_plan",
    "write_reports",
]
