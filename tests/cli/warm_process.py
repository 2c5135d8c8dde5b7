"""Imports the command once, then forks for every order that comes as a JSON line."""

import json
import os
import resource
import signal
import sys
import tempfile
from contextlib import suppress
from importlib import import_module

from orthant.cli.commands import COMMANDS, make_app
from orthant.cli.main import main

make_app(COMMANDS)  # imports all of them
# What commands import while they run, where it is installed.
LATER = ("orthant.estimators.orthogonal_nmf", "scipy.cluster.vq", "scipy.optimize")
for name in (*LATER, "sklearn.datasets", "h5py", "zarr"):
    with suppress(ImportError):
        import_module(name)
with suppress(ImportError):
    from pydantic import TypeAdapter

    TypeAdapter(int)  # typer asks for one at every command, and pydantic imports the rest then

# Only a command that hangs runs this long, on a busy machine as well.
TIMEOUT = 600


def child(order, stdin, out, err):
    for file, number in ((stdin, 0), (out, 1), (err, 2)):
        os.dup2(file.fileno(), number)
    for name, number, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        setattr(sys, name, os.fdopen(number, mode, encoding="utf-8"))
    signal.alarm(TIMEOUT)
    if order["memory"] is not None:
        with open("/proc/self/statm") as file:
            held = int(file.read().split()[0]) * resource.getpagesize()
        limit = held + order["memory"]
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    os.chdir(order["cwd"])
    sys.argv = ["orthant", *order["arguments"]]
    code = 1
    try:
        main()
    except SystemExit as done:
        code = done.code if isinstance(done.code, int) else 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


for line in sys.stdin:
    order = json.loads(line)
    with (
        tempfile.TemporaryFile() as stdin,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
    ):
        stdin.write(order["stdin"].encode())
        stdin.seek(0)
        process = os.fork()
        if process == 0:
            child(order, stdin, out, err)
        _, status, used = os.wait4(process, 0)
        out.seek(0)
        err.seek(0)
        answer = {
            "code": os.waitstatus_to_exitcode(status),
            "out": out.read().decode(),
            "err": err.read().decode(),
            "peak": used.ru_maxrss,
        }
        print(json.dumps(answer), flush=True)
