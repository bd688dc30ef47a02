"""The job of the explorer: reads metrics, runs, judgements, queries and corpora of all tasks that are compared, and
writes explorer/ with index.html and data/ (ranktrial/explorer/folder.py).
"""

from __future__ import annotations

from pathlib import Path

from ranktrial.common.command_line import job
from ranktrial.common.files import atomic_folder
from ranktrial.explorer.folder import write_explorer
from ranktrial.ir.trec import read_qrels
from scripts.explorer.task_files import Settings, by_source, check_there, task_data


def write(folder: Path, metrics: list[Path], runs: list[Path], settings: Settings) -> None:
    """Write the whole folder."""
    values, rankings = by_source("metrics", metrics), by_source("run", runs)
    judgements = {name: read_qrels(Path(task.qrels)) if task.qrels else {} for name, task in settings.tasks.items()}
    tasks = [task_data(settings, name, values, rankings, qrels) for name, qrels in judgements.items()]
    write_explorer(folder, tasks, settings)


def explorer(metrics: list[Path], runs: list[Path], folder: Path, settings: Settings) -> None:
    """Write a folder with a page that shows single queries and their rankings."""
    check_there(settings, [path for task in settings.tasks.values() for path in (*task.corpora, task.queries)])
    with atomic_folder(folder) as made:
        write(made, metrics, runs, settings)


if __name__ == "__main__":
    job(explorer)
