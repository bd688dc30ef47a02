"""The command line of all scripts: paths as options, settings as one JSON object, and errors as one line.

Before a script reads anything, its inputs are checked against what their jobs wrote (see ledger) and the user's own
data against what the run was planned with (see digests). With --log, its output is also in the job's log.

The log of a job says where it ran, followed by all output of its script and of the programs that the script starts.

`tee` copies standard output and error to the log and still shows them, on the terminal or in Slurm's own log. It is a
separate process: output printed before a script is killed is in the log, and a library that prints much while Python
waits for it (as Java does) never waits for a reader in the same process. A failure before the options are read, such as
that of an import, is shown but not logged.
"""

from __future__ import annotations

import argparse
import atexit
import dataclasses
import errno
import inspect
import json
import locale
import os
import socket
import subprocess
import sys
import typing
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from ranktrial.common import digests, ledger
from ranktrial.common.errors import UserError
from ranktrial.common.extras import names_extras
from ranktrial.common.settings import help_of, read_settings

HEAD = ("host", "slurm job", "driver")  # the first lines of a log, `name: value`, in this order
NONE = "none"  # the value if there is none
DRIVER = Path("/proc/driver/nvidia/version")  # its first line names the GPU's driver
LONGEST_WAIT = 5.0  # seconds for the last lines to reach the log, where a process that the script started lives on


def head() -> str:
    """The first lines of a log."""
    try:
        driver = DRIVER.read_text().splitlines()[0]
    except (OSError, IndexError):
        driver = NONE
    values = (socket.gethostname(), os.environ.get("SLURM_JOB_ID") or NONE, driver)
    return "".join(f"{name}: {value}\n" for name, value in zip(HEAD, values, strict=True))


def begin_log(path: Path) -> None:
    """Copy the output of this process and of those that it starts to a new log, until the process ends.

    Raises UserError if the log cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(head(), encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}") from None
    sys.stdout.flush()
    sys.stderr.flush()
    terminal = os.dup(1), os.dup(2)
    # In a session of its own, it survives Ctrl-C and ends when the last printing process has ended.
    tee = subprocess.Popen(
        ["tee", "-a", "--", path], stdin=subprocess.PIPE, stdout=terminal[0], stderr=terminal[1], start_new_session=True
    )
    assert tee.stdin is not None
    for descriptor in (1, 2):
        os.dup2(tee.stdin.fileno(), descriptor)
    tee.stdin.close()
    atexit.register(_end_log, tee, terminal)


def _end_log(tee: subprocess.Popen, terminal: tuple[int, int]) -> None:
    """Wait until all output is in the log, which is read once the script has ended."""
    for stream, descriptor, original in zip((sys.stdout, sys.stderr), (1, 2), terminal, strict=True):
        with suppress(OSError, ValueError):
            stream.flush()
        os.dup2(original, descriptor)
    with suppress(subprocess.TimeoutExpired):
        tee.wait(LONGEST_WAIT)


def ensure_utf8() -> None:
    """Restart in Python's UTF-8 mode if the locale would make Python read texts and options in another encoding."""
    if not sys.flags.utf8_mode and locale.getencoding().lower().replace("-", "") != "utf8":
        os.environ["PYTHONUTF8"] = "1"
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def run(main: Callable[[], None]) -> None:
    """Run a script's `main`; a UserError or an operating-system error becomes one line on stderr and exit code 1.

    If the user's data changed while it was read, the message says so, instead of reporting an error in half-written
    data.
    """
    ensure_utf8()
    try:
        with names_extras():
            main()
    except UserError as error:
        sys.exit(f"error: {digests.changed() or error}")
    except BrokenPipeError:
        sys.exit(1)
    except OSError as error:
        place = error.filename
        if place is None and error.errno == errno.ENOSPC:  # the writer of results reports them
            place = os.environ.get("TMPDIR") or "/tmp"
        sys.exit(f"error: {place}: {error.strerror}" if place else f"error: {error}")


def job(*functions: Callable[..., None]) -> None:
    """Run a function as a script: parameters that are paths are its options, all others are its settings.

    A parameter `settings` whose type is a dataclass is the whole of the settings. A path of type `Path | None` may be
    left out. A function with `**files: list[Path]` takes all further options, with any number of paths each. Of
    several functions, the first word of the command line names one, as a rule's name does.
    """
    function = functions[0]
    if len(functions) > 1:
        named = {one.__name__: one for one in functions}
        if len(sys.argv) < 2 or sys.argv[1] not in named:
            sys.exit(f"error: expected one of {', '.join(named)} as the first word")
        function = named[sys.argv.pop(1)]
    run(lambda: function(**arguments_of(function)))


FURTHER = inspect.Parameter.VAR_KEYWORD  # the kind of `**files`
PATHS = {Path: "", list[Path]: "*", Path | None: "?"}  # type of a parameter -> mark of its option


def arguments_of(function: Callable[..., None]) -> dict[str, typing.Any]:
    """The arguments of a function from the command line. Raises UserError if the settings are not those it takes."""
    hints = typing.get_type_hints(function, include_extras=True)
    given = inspect.signature(function).parameters
    paths = {name: PATHS[hints[name]] for name, one in given.items() if hints[name] in PATHS and one.kind != FURTHER}
    if any(one.kind == FURTHER for one in given.values()):
        words = [word[2:].replace("-", "_") for word in sys.argv[1:] if word.startswith("--")]
        paths |= {name: "*" for name in words if name not in (*paths, "settings", "log", "help")}
    record = settings_of(function)
    names = [name.replace("_", "-") + mark for name, mark in paths.items()]
    options = parser(function.__doc__, *names, settings=record).parse_args()
    whole = record is not NoSettings and hints.get("settings") is record
    read = {"settings": options.settings} if whole else vars(options.settings)
    return {name: getattr(options, name) for name in paths} | read


def settings_of(function: Callable[..., None]) -> type:
    """The dataclass of a function's settings: the type of `settings`, or one with all parameters that are no paths."""
    hints, given = typing.get_type_hints(function, include_extras=True), inspect.signature(function).parameters
    others = [name for name in given if hints[name] not in PATHS]
    if others == ["settings"] and dataclasses.is_dataclass(hints["settings"]):
        return typing.cast(type, hints["settings"])
    return _record(function.__name__, {name: hints[name] for name in others}, given) if others else NoSettings


def _record(name: str, hints: dict[str, typing.Any], given: Mapping[str, inspect.Parameter]) -> type:
    """A dataclass of the parameters that are no paths."""
    needed = [(one, hint) for one, hint in hints.items() if given[one].default is inspect.Parameter.empty]
    others = [
        (one, hint, dataclasses.field(default=given[one].default))
        for one, hint in hints.items()
        if given[one].default is not inspect.Parameter.empty
    ]
    return dataclasses.make_dataclass(f"Settings of {name}".title().replace(" ", ""), [*needed, *others], frozen=True)


@dataclass(frozen=True)
class NoSettings:
    """The settings of a script that has none."""


class _Parser(argparse.ArgumentParser):
    """Checks what the options name as soon as they are known. A mistake in them is one line, also in the job's log."""

    settings: type | None = None  # the dataclass of the script's settings
    names: frozenset[str] = frozenset()  # of its options

    def error(self, message: str) -> NoReturn:
        words = sys.argv[1:]
        if "--log" in words[:-1]:
            begin_log(Path(words[words.index("--log") + 1]))
        print(f"error: {message}; --help shows the options", file=sys.stderr)
        sys.exit(2)

    def parse_args(self, arguments=None, namespace=None):
        words = sys.argv[1:] if arguments is None else arguments
        options = super().parse_args([_no_option(word, self.names) for word in words], namespace)
        if options.log:
            begin_log(options.log)
        given = {name: value for name, value in vars(options).items() if name != "log"}
        settings = given.get("settings") or {}
        read = [path for value in given.values() for path in _paths(value)]
        ledger.check(dict.fromkeys(path for path in [*read, *_results_in(settings)] if os.path.exists(path)))
        digests.hold({Path(path): sha256 for path, sha256 in settings.get("sha256_of", {}).items()})
        if self.settings:
            values = {name: value for name, value in settings.items() if name != "sha256_of"}
            options.settings = read_settings(self.settings, values)
        return options


def _no_option(word: str, names: Container[str]) -> str:
    """A word of the command line; a file whose name begins with - as a path that does not."""
    return f"./{word}" if word.startswith("-") and word not in names and os.path.lexists(word) else word


def parser(description: str | None, *paths: str, settings: type | bool = True) -> argparse.ArgumentParser:
    """An argument parser whose options are `paths` (required, as Path), `--settings` (a JSON object) and `--log`.

    `settings` is the dataclass that the object is read into, False for a script without settings (it takes an empty
    object). A path name ending in `*` takes any number of values, one ending in `?` may be left out.
    """
    fields = f"the keys of --settings:\n{help_of(settings)}" if isinstance(settings, type) else None
    settings = settings or NoSettings
    made = _Parser(description=description, epilog=fields, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.settings = settings if isinstance(settings, type) else None
    for name in paths:
        many = {"*": {"nargs": "*", "default": []}, "?": {}}.get(name[-1], {"required": True})
        made.add_argument(f"--{name.rstrip('*?')}", type=Path, **many)
    some = settings is not NoSettings
    made.add_argument(
        "--settings", type=json.loads, required=some, default={}, help="the job's settings, a JSON object"
    )
    made.add_argument("--log", type=Path, help="a file for what is printed, which is shown all the same")
    made.names = frozenset(("-h", "--help", "--settings", "--log", *(f"--{name.rstrip('*?')}" for name in paths)))
    return made


def _paths(value) -> list[Path]:
    """The paths in an option's value."""
    items = value if isinstance(value, list) else [value]
    return [Path(item) for item in items if isinstance(item, str | Path)]


def _results_in(value) -> Iterator[Path]:
    """The paths below results/ that stand anywhere in the settings."""
    if isinstance(value, str) and value.startswith(f"{ledger.RESULTS}/"):
        yield Path(value)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _results_in(key)
            yield from _results_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from _results_in(item)
