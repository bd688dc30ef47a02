"""Where the lines of a run appear: redrawn in place on a terminal; in a log one after another, and few of them."""

from __future__ import annotations

import os
import time
from typing import TextIO

from scripts.progress.lines import Stage, heading, line, news, stages
from scripts.progress.state import Run

ERASE = "\r\x1b[{}A\x1b[J"  # to the first of the drawn lines, and away with all from there
OFTEN = 30.0  # seconds between two lines of a log on one stage, at least
USUAL = 80, 24  # columns and rows of a terminal that does not say how large it is


class Display:
    """Shows runs on a stream."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.in_place = stream.isatty() and os.environ.get("TERM") != "dumb"
        self.drawn = 0  # lines that the next ones replace
        self.shown: dict[str, tuple[Stage, float]] = {}  # the stages as their last lines in a log had them, and when

    def say(self, text: str) -> None:
        """A line that stays."""
        self.erase()
        print(text, file=self.stream, flush=True)

    def erase(self) -> None:
        """Make place for lines that stay."""
        if self.drawn:
            self.stream.write(ERASE.format(self.drawn))
            self.drawn = 0

    def show(self, run: Run) -> None:
        """How far a run is now."""
        now = time.time()
        if self.in_place:
            self._draw([heading(run, now), *map(line, stages(run, now))])
        else:
            self._log(run, now)

    def _draw(self, lines: list[str]) -> None:
        """The lines in place of the last ones; on a small terminal the first of them."""
        columns, rows = os.get_terminal_size(self.stream.fileno())
        columns, rows = columns or USUAL[0], rows or USUAL[1]
        kept = [one[: max(columns - 1, 1)] for one in lines[: max(rows - 1, 1)]]
        self.erase()
        self.stream.write("".join(f"{one}\n" for one in kept))
        self.stream.flush()
        self.drawn = len(kept)

    def _log(self, run: Run, now: float) -> None:
        """The stages of which there is news; at first all of them."""
        if not self.shown:
            self.say(heading(run, now))
        for stage in stages(run, now):
            before, at = self.shown.get(stage.name, (None, 0.0))
            ends_early = bool(run.ended and stage.to_come + stage.failed)
            if before is None or ends_early or news(before, stage, now - at >= OFTEN):
                self.shown[stage.name] = stage, now
                self.say(f"{time.strftime('%H:%M:%S', time.localtime(now))}  {line(stage)}")
        if run.ended:
            self.say(heading(run, now))
