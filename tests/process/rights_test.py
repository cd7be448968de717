# SPDX-License-Identifier: MIT
"""Runs a program that has rights which its user lacks (set-user-ID, set-group-ID), in an
environment that asks for much, and where another program has its file's name by now.

usage: rights_test.py PROGRAM     exits with 77 if the user cannot give rights away

Such a program obeys none of Nopal's variables, and executes nothing. One without such rights obeys
them, and executes its own file, not what has the name.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from patience import SECONDS  # pylint: disable=wrong-import-position

NOBODY = 65534
# Each launcher's number of a process is among them.
ENVIRONMENT = {
    "PMI_RANK": "0",
    "PMIX_RANK": "0",
    "NOPAL_NUM_WORKERS": "3",
    "NOPAL_VERBOSE": "1",
    "NOPAL_STATS": "1",
    "NOPAL_UNKNOWN": "1",
    "NOPAL_PROCESSES": "5",
    "NOPAL_TRANSPORT": "nonsense",
}
EVIL = "#!/bin/sh\necho evil runs with the rights of $(id -u)\n"


def become_nobody():
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


def run(folder, program, mode, *arguments, **more):
    """The program is begun by its file, and has lost its name to another one meanwhile."""
    path = os.path.join(folder, "program")
    shutil.copy(program, path)
    os.chmod(path, mode)
    file = os.open(path, os.O_RDONLY)
    os.unlink(path)
    for name in (path, path + " (deleted)"):
        with open(name, "w", encoding="ascii") as evil:
            evil.write(EVIL)
        os.chmod(name, 0o755)
    done = subprocess.run(
        ["program", *arguments],
        executable=f"/proc/self/fd/{file}",
        pass_fds=[file],
        preexec_fn=become_nobody,
        env={**ENVIRONMENT, **more},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    os.close(file)
    for name in (path, path + " (deleted)"):
        os.unlink(name)
    return done


def line(user, group, workers):
    return (
        f"user {NOBODY} with the rights of {user}, group {NOBODY} with those of {group}, "
        f"{workers} workers\n"
    )


def check(folder, program):
    problems = []
    cases = (
        ("set-user-ID", 0o4755, line(0, NOBODY, "other"), ""),
        ("set-group-ID", 0o2755, line(NOBODY, 0, "other"), ""),
        ("as its user", 0o755, line(NOBODY, NOBODY, "3"), "3 workers (NOPAL_NUM_WORKERS"),
    )
    for what, mode, wanted, said in cases:
        done = run(folder, program, mode)
        if done.returncode != 0 or done.stdout != wanted or said not in done.stderr:
            problems.append(f"{what}: {done.returncode}, {done.stdout!r}, {done.stderr!r}")
        if not said and done.stderr:
            problems.append(f"{what} it says {done.stderr!r}")
    done = run(folder, program, 0o4755, "session")
    if done.returncode != 0 or done.stdout != "1 processes\n" + line(0, NOBODY, "other"):
        problems.append(f"a session: {done.returncode}, {done.stdout!r}, {done.stderr!r}")
    return problems


def main(program):
    if os.geteuid() != 0:
        print("only root can give a file rights that another user lacks")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        if os.statvfs(folder).f_flag & os.ST_NOSUID:
            print(f"files in {folder} give no rights (nosuid)")
            return 77
        os.chmod(folder, 0o755)
        problems = check(folder, program)
    for each in problems:
        print(each, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
