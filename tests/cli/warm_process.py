"""Imports the command once, then forks for every order that comes as a JSON line."""

import gc
import io
import json
import os
import resource
import signal
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout, suppress
from importlib import import_module

import numpy as np

import orthonmf
from orthonmf.cli.commands import COMMANDS, load_command, run
from orthonmf.cli.main import main

for name in COMMANDS:
    load_command(name)
# What commands import while they run, where it is installed.
LATER = ("orthonmf.estimators.orthogonal_nmf", "scipy.cluster.vq", "scipy.optimize")
for name in (*LATER, "sklearn.datasets", "h5py", "zarr"):
    with suppress(ImportError):
        import_module(name)
# A fit with its certificate, a help and a mistake import the rest.
assert orthonmf.factorize(np.eye(3), 2, random_state=0, n_jobs=1).certificate.lower_bound > 0
with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
    run(["fit", "--help"])
    run(["fit", "no such file"])
gc.freeze()  # what is never collected is never copied

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
            taken = int(file.read().split()[0]) * resource.getpagesize()
        limit = taken + order["memory"]
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    os.chdir(order["cwd"])
    sys.argv = ["orthonmf", *order["arguments"]]
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
