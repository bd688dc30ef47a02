"""A warm process: it has imported what Snakemake and the jobs import, and forks for each command that a test starts.

    python warm.py SOCKET PARENT     the server; it ends when the process PARENT has ended

Most of the processor time of a workflow test is the start of processes: 2 s for Snakemake, 4 to 6 s for a neural job. A
fork of this process starts in a tenth of a second. It has its client's folder, environment, arguments and open files
(see warm_client), imports the scripts of its own workspace, and gives its client its exit status. That real processes
have the same results, tests/workflow/test_end_to_end.py tests.
"""

import atexit
import contextlib
import gc
import json
import os
import runpy
import selectors
import signal
import socket
import sys
import threading
import time
from pathlib import Path

from tests.support.sources import PACKAGES, our_sources

ROOT = Path(__file__).resolve().parents[2]
CLIENT = Path(__file__).with_name("warm_client.py")
LOADED = "RANKTRIAL_TEST_LOADED"  # names a file that is told which modules each command has loaded
LIBRARIES = (
    "snakemake.cli", "snakemake.profiles", "snakemake.report.html_reporter", "snakemake.storage",
    "snakemake_logger_plugin_rich", "graphlib", "numpy", "scipy.stats", "scipy.optimize", "scipy.sparse", "pandas",
    "pyarrow.parquet", "matplotlib.figure", "matplotlib.backends.backend_agg", "matplotlib.backends.backend_svg",
    "matplotlib.backends.backend_pdf", "pytrec_eval", "ir_measures", "jsonschema", "jinja2", "datasets", "transformers",
    "transformers.models.bert.modeling_bert", "onnxruntime", "torch.optim",
    "datasketch", "smart_open", "argparse_dataclass", "platformdirs", "pandas.io.formats.csvs",
)  # fmt: skip


def start(folder: Path) -> Path:
    """Start the server with its files in `folder`; the path of a `python` whose commands it runs."""
    address = folder / "socket"
    parent = os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()  # which outlives all that ask
    environment = os.environ | {
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "PYTHONUTF8": "1",
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, __file__, str(address), str(parent)]
    with open(folder / "log", "wb") as log:
        process = os.posix_spawn(
            sys.executable, command, environment,
            file_actions=[(os.POSIX_SPAWN_DUP2, log.fileno(), 1), (os.POSIX_SPAWN_DUP2, log.fileno(), 2)],
            setsid=True,
        )  # fmt: skip
    while not address.exists():
        if os.waitpid(process, os.WNOHANG)[0]:
            raise RuntimeError((folder / "log").read_text())
        time.sleep(0.02)
    client = folder / "bin" / "python"
    client.parent.mkdir()
    client.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "{CLIENT}" "{address}" "{sys.executable}" "$@"\n')
    client.chmod(0o755)
    return client


def preload() -> None:
    """Import the libraries as jobs do; the project's own modules are forgotten, since each workspace has its own."""
    from ranktrial.common.job_code import meaning
    from ranktrial.models import running

    running.import_library()
    for path in our_sources():
        meaning(path)  # is kept beside the source, and copied with it
    for name in LIBRARIES:
        __import__(name)
    sys.modules["snakemake.cli"].get_argument_parser()  # looks for plug-ins among all packages
    for name in [name for name in sys.modules if name.split(".")[0] in PACKAGES]:
        del sys.modules[name]
    sys.path.remove(str(ROOT))
    sys.path.remove(str(Path(__file__).parent))
    gc.freeze()


def become(request: dict, files: list[int]) -> int:
    """Run the client's command in this process, which is a fork; its exit status."""
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.umask(request["umask"])
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.executable = request["python"]
    sys.path[:0] = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(n, "rw"[n > 0], closefd=False, buffering=1) for n in range(3))
    sys.__stdout__, sys.__stderr__ = sys.stdout, sys.stderr
    import numpy

    numpy.random.seed()
    Path("/proc/self/clear_refs").write_text("5")  # the peak memory is the job's own
    return _run(request["words"])


def _run(words: list[str]) -> int:
    sys.orig_argv = [sys.executable, *words]
    words = words[(safe := words[0] == "-P") :]
    try:
        if words[0] == "-c":
            sys.argv = ["-c", *words[2:]]
            sys.path[:0] = [] if safe else [""]
            _run_code(words[1], "<string>")
        elif words[0] == "-m":
            sys.argv = words[1:]
            sys.path[:0] = [] if safe else [os.getcwd()]
            runpy.run_module(words[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv = words
            sys.path.insert(0, str(Path(words[0]).resolve().parent))
            _run_code(Path(words[0]).read_bytes(), words[0])
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        return 1
    finally:
        if place := os.environ.get(LOADED):
            _tell_modules(words, place)
    return 0


def _tell_modules(words: list[str], place: str) -> None:
    """Add a line to a file: the words of the command, and the files of our modules that it has loaded."""
    modules = [module for name, module in sys.modules.items() if name.split(".")[0] in PACKAGES]
    files = [os.path.relpath(module.__file__) for module in modules if getattr(module, "__file__", None)]
    with open(place, "a") as file:
        file.write(json.dumps([words, files]) + "\n")


def _run_code(code: str | bytes, path: str) -> None:
    """Run a script as `__main__`, where the types of its settings are looked up."""
    main = type(sys)("__main__")
    main.__file__ = path
    sys.modules["__main__"] = main
    exec(compile(code, path, "exec"), main.__dict__)


def end(status: int) -> None:
    """End this process as Python ends: threads are waited for, what was left for the end is done."""
    with contextlib.suppress(BaseException):
        threading._shutdown()
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    os._exit(status & 0xFF)


class Server:
    """Takes commands at a socket; each client has a fork, and is sent its number and then its exit status."""

    def __init__(self, address: str, parent: int) -> None:
        self.parent = parent
        self.selector = selectors.DefaultSelector()
        self.clients: dict[int, socket.socket] = {}
        self.wake, wakes = socket.socketpair()
        for end in (self.wake, wakes):
            end.setblocking(False)
        signal.set_wakeup_fd(wakes.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self.wakes = wakes
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.bind(f"{address}.new")
        self.socket.listen(64)
        os.rename(f"{address}.new", address)
        self.selector.register(self.socket, selectors.EVENT_READ)
        self.selector.register(self.wake, selectors.EVENT_READ)

    def serve(self) -> None:
        while os.path.exists(f"/proc/{self.parent}"):
            for key, _ in self.selector.select(timeout=1):
                if key.fileobj is self.socket:
                    self.accept()
                elif key.fileobj is self.wake:
                    self.reap()
                else:
                    self.lost(key.fileobj, key.data)
        for number in self.clients:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(number, signal.SIGKILL)

    def accept(self) -> None:
        client, _ = self.socket.accept()
        message, files, _, _ = socket.recv_fds(client, 1 << 20, 3)
        while not message.endswith(b"\n"):
            message += client.recv(1 << 20)
        number = os.fork()
        if number == 0:
            self.child(json.loads(message), files, client)
        for file in files:
            os.close(file)
        self.clients[number] = client
        self.selector.register(client, selectors.EVENT_READ, number)
        with contextlib.suppress(OSError):
            client.sendall(f"{number}\n".encode())

    def child(self, request: dict, files: list[int], client: socket.socket) -> None:
        os.setpgid(0, 0)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self.selector.close()
        for one in (self.socket, self.wake, self.wakes, client, *self.clients.values()):
            one.close()
        try:
            status = become(request, files)
        except BaseException:
            sys.excepthook(*sys.exc_info())
            status = 1
        end(status)

    def reap(self) -> None:
        with contextlib.suppress(BlockingIOError):
            self.wake.recv(4096)
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                client = self.clients.pop(ended[0], None)
                if client:
                    self.selector.unregister(client)
                    with contextlib.suppress(OSError):
                        client.sendall(f"{os.waitstatus_to_exitcode(ended[1])}\n".encode())
                    client.close()

    def lost(self, client: socket.socket, number: int) -> None:
        """A client that is gone, killed say, takes its fork with it."""
        if not client.recv(1):
            self.selector.unregister(client)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(number, signal.SIGKILL)


if __name__ == "__main__":
    preload()
    Server(sys.argv[1], int(sys.argv[2])).serve()
