"""The report of an experiment: a page of one file, report.html, and a summary in Markdown, summary.md.

Reads the figures (SVG) and the files of all sections (scripts/reports/sections/). Writes both from one content:
report.html needs no other file and no network; summary.md names figures and tables relative to itself. The same inputs
give the same summary, and the same page except for its date, commit and machine.
"""

from __future__ import annotations

from pathlib import Path

from ranktrial.common.command_line import job
from ranktrial.common.files import write_text
from ranktrial.experiment.results_paths import fields_of
from ranktrial.reports.writing import html_page, printed
from ranktrial.reports.writing.content import captions_once
from scripts.reports.sections import Report, Settings, content


def report(page: Path, summary: Path, settings: Settings, **files: list[Path]) -> None:
    """Write the page and its summary from `files`: figures and the inputs of all sections."""
    made, title = Report(settings, files), settings.experiment
    figures = {
        f"figures/{fields_of('figure', path)['figure']}.svg": path.read_text(encoding="utf-8")
        for path in files["figures"]
    }
    write_text(page, html_page.document(title, captions_once(content(made)), figures))
    write_text(summary, printed.markdown_document(title, captions_once(content(made, summary=True))))


if __name__ == "__main__":
    job(report)
