"""The display of a run: lines redrawn in place on a terminal; in a log, few lines, one after another."""

from __future__ import annotations

import os
import time
from typing import TextIO

from ranktrial.progress.lines import Stage, heading, line, news, stages
from ranktrial.progress.state import Run

ERASE = "\r\x1b[{}A\x1b[J"  # move to the first of the drawn lines and clear from there
OFTEN = 30.0  # minimum seconds between two lines of a log about one stage
USUAL = 80, 24  # columns and rows of a terminal of unknown size


class Display:
    """Shows runs on a stream."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.in_place = stream.isatty() and os.environ.get("TERM") != "dumb"
        self.drawn = 0  # number of lines to be replaced by the next ones
        self.shown: dict[
            str, tuple[Stage, float]
        ] = {}  # the stages at their last lines in a log, and the time of these

    def say(self, text: str) -> None:
        """Print a line that stays."""
        self.erase()
        print(text, file=self.stream, flush=True)

    def erase(self) -> None:
        """Erase the drawn lines, to print lines that stay."""
        if self.drawn:
            self.stream.write(ERASE.format(self.drawn))
            self.drawn = 0

    def show(self, run: Run) -> None:
        """Show the progress of a run."""
        now = time.time()
        if self.in_place:
            self._draw([heading(run, now), *map(line, stages(run, now))])
        else:
            self._log(run, now)

    def _draw(self, lines: list[str]) -> None:
        """Draw the lines in place of the last ones; on a small terminal, only the first of them."""
        columns, rows = os.get_terminal_size(self.stream.fileno())
        columns, rows = columns or USUAL[0], rows or USUAL[1]
        kept = [one[: max(columns - 1, 1)] for one in lines[: max(rows - 1, 1)]]
        self.erase()
        self.stream.write("".join(f"{one}\n" for one in kept))
        self.stream.flush()
        self.drawn = len(kept)

    def _log(self, run: Run, now: float) -> None:
        """Print the stages with news; at first, all of them."""
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
