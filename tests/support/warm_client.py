"""The `python` of a warm process: hands its command, environment, folder and open files over and ends as its fork ends.

    python warm_client.py SOCKET PYTHON COMMAND...     COMMAND: what Python would be given

What the warm process is no stand-in for (options of Python but -P, several threads) PYTHON runs itself.
"""

import array
import json
import os
import signal
import socket
import sys


def is_script(words):
    """Whether the words start a script, code or a module, with one thread."""
    first, second = [*words[words[:1] == ["-P"] :], "", ""][:2]
    plain = (
        first.endswith(".py")
        or first == "-c"
        or (first == "-m" and second.partition(".")[0] in ("scripts", "ranktrial", "snakemake"))
    )
    return plain and os.environ.get("OMP_NUM_THREADS", "1") == "1"


def main():
    address, python, *words = sys.argv[1:]
    if not is_script(words):
        os.execv(python, [python, *words])
    here = os.path.join(os.path.dirname(address), "bin", "python")
    umask = os.umask(0)
    os.umask(umask)
    request = {"words": words, "environment": dict(os.environ), "folder": os.getcwd(), "python": here, "umask": umask}
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.connect(address)
    files = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))]
    message = json.dumps(request).encode() + b"\n"
    server.sendall(message[server.sendmsg([message], files) :])
    answer = server.makefile()
    number = int(answer.readline())
    for one in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(one, lambda sent, _: os.kill(number, sent))
    status = int(answer.readline() or 1)
    if status < 0:
        if -status != signal.SIGKILL:
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    sys.exit(status)


main()
