# SPDX-License-Identifier: MIT
"""Begins a program by an MPI's launcher where processes begin or end otherwise than they should.

usage: launched_edges_test.py MPI LAUNCHER PROGRAM TIMES     MPI is openmpi or mpich

What comes before a session; /dev/shm is small or read-only, there is no /proc, there are few files
that may be open; a task exits; one process runs once more than the others; a task that rounds
upwards moves; a process dies before it begins the program; the start on 64 processes, so many
TIMES. Once means few: two of the transports, and 16 processes.
"""

import contextlib
import os
import re
import subprocess
import sys

import launched_test as one_host
import left_behind

_EXITS = re.compile(r"^status (\d+)$", re.MULTILINE)


# What is mounted otherwise, and what each MPI's processes say then; nothing: they compute.
_PROC = r"nopal: /proc/self/fd cannot be read \(No such file or directory\): the processes of a "
_TINY = r"nopal: \d+ bytes are free in /dev/shm, and MPICH needs 131072 there for 16 processes"
_MOUNTS = (
    ("mount -t tmpfs -o size=64M tmpfs /dev/shm", {}),  # a container's default
    ("mount -o remount,ro,bind /dev/shm", {}),
    ("mount -t tmpfs -o size=16K tmpfs /dev/shm", {"mpich": _TINY}),
    ("mount -t tmpfs tmpfs /proc", {"mpich": _PROC, "openmpi": _PROC}),
)


@contextlib.contextmanager
def open_input():
    """An input without an end. At its end MPICH's launcher writes to its own daemons, and where
    all processes have ended already it dies of that before it has passed on what they have said."""
    ends = os.pipe()
    try:
        yield ends[0]
    finally:
        for end in ends:
            os.close(end)


def check_mounts(launcher):
    """Where this user may mount."""
    apart = ["unshare", "-m", "sh", "-c"]
    problems = []
    for mount, said in _MOUNTS:
        if subprocess.run([*apart, mount], capture_output=True, check=False).returncode != 0:
            continue
        command = launcher.command(16, launcher.program, "10", "1")
        with open_input() as end:
            done = subprocess.run(
                [*apart, mount + ' && exec "$0" "$@"', *command],
                env=one_host.environment(NOPAL_REGION_SIZE="1G", NOPAL_STATS="1"),
                stdin=end,
                capture_output=True,
                text=True,
                timeout=one_host.SECONDS,
                check=False,
            )
        computed = done.returncode == 0 and done.stdout == "16 processes: fib(10) = 55\n"
        wanted = said.get(launcher.mpi)
        if computed if wanted else not computed or "ERROR" in done.stderr:
            problems.append(f"{mount}: exit {done.returncode}, {done.stderr!r}")
        if wanted and not re.search(wanted, done.stderr):
            problems.append(f"{mount}: no word of {wanted!r} in {done.stderr!r}")
    return problems


def check_few_files(launcher):
    problems = []
    for files in (16, 24):
        words = ["sh", "-c", f'ulimit -n {files} && exec "$0" "$@"', launcher.program, "10", "1"]
        with open_input() as end:
            done = subprocess.run(
                launcher.command(2, *words),
                env=one_host.environment(),
                stdin=end,
                capture_output=True,
                text=True,
                timeout=one_host.SECONDS,
                check=False,
            )
        sentence = (
            r"nopal: a process::session of 2 processes needs 24 open files more than the program "
            rf"has, and there is room for \d+ \(Too many open files; RLIMIT_NOFILE is {files}\)"
        )
        if not re.search(sentence, done.stderr):
            problems.append(f"{files} files: exit {done.returncode}, {done.stderr!r}")
    return problems


def check_one_that_never_comes(launcher):
    """The launcher has reaped it, perhaps before any other process could see it."""
    shell = (
        '[ "$PMI_RANK$PMIX_RANK" = 1 ] && exit 9; '
        '"$0" "$@"; code=$?; echo "status $code"; exit $code'
    )
    more = one_host.WITHOUT_CLEANUP[launcher.mpi]
    done = subprocess.run(
        launcher.command(4, "sh", "-c", shell, launcher.program, "10", "1", more=more),
        env=one_host.environment(),
        capture_output=True,
        text=True,
        timeout=one_host.SECONDS,
        check=False,
    )
    statuses = _EXITS.findall(done.stdout)
    sentence = (
        "(another process of this machine has died before the computation has begun"
        "|3 of the 4 processes of this machine have come, and the launcher begins no more: another "
        "one has died), so this process ends too"
    )
    # MPICH's daemon may end the others when the first of them ends.
    if re.search(sentence, done.stderr) and (launcher.mpi == "mpich" or statuses == ["70"] * 3):
        return []
    return [f"one that never comes: exit {done.returncode}, {statuses}, {done.stderr!r}"]


def check_edges(launcher, times):
    problems = []
    for transport, variables in one_host.TRANSPORTS.items():
        if times == 1 and transport in ("tcp", "mpi"):
            continue

        def run(what, *more, given=""):
            shell = '"$0" "$@"; code=$?; echo "status $code"; exit $code'
            words = ["sh", "-c", shell, launcher.program, what, "0"]
            return subprocess.run(
                launcher.command(4, *words, more=more),  # pylint: disable=cell-var-from-loop
                env=one_host.environment(**variables),  # pylint: disable=cell-var-from-loop
                input=given,
                capture_output=True,
                text=True,
                timeout=one_host.SECONDS,
                check=False,
            )

        done = run("before", given="a line\n")
        if done.stdout.count("before") != 4 or "test_process_la: a line" not in done.stdout:
            problems.append(f"{transport}, before the session: {done.stdout!r}, {done.stderr!r}")
        if "its programs: 00000000 unset\n" not in done.stdout:
            problems.append(f"{transport}, programs that it begins: {done.stdout!r}")
        done = run("exit", *one_host.WITHOUT_CLEANUP[launcher.mpi])
        statuses = sorted(map(int, _EXITS.findall(done.stdout)))
        if launcher.mpi == "openmpi" and statuses != [3] + [one_host.DIED] * 3:
            problems.append(f"{transport}, exit in a task: {statuses}, {done.stderr!r}")
        if max(statuses, default=0) > 128:  # MPICH's daemon may end the others first
            problems.append(f"{transport}, exit in a task: {statuses}, {done.stderr!r}")
        done = run("alone", *one_host.WITHOUT_CLEANUP[launcher.mpi])
        if "every process calls session::run as often as the others" not in done.stderr:
            problems.append(f"{transport}, one process alone: {done.returncode}, {done.stderr!r}")
        done = run("upward")
        if done.returncode != 0 or done.stdout.count("upward: 1") != 4:
            problems.append(f"{transport}, rounding: {done.stdout!r}, {done.stderr!r}")
        print(f"{transport}: {problems or 'all well'}", flush=True)
    problems += check_mounts(launcher)
    problems += check_few_files(launcher)
    problems += check_one_that_never_comes(launcher)
    count = 16 if times == 1 else 64
    for time_of_all in range(times):
        done = launcher.run(count, "10", "1", NOPAL_REGION_SIZE="64K", NOPAL_HEAP_SIZE="1M")
        if done.stdout != f"{count} processes: fib(10) = 55\n" or done.returncode != 0:
            problems.append(f"{count} processes: exit {done.returncode}, {done.stderr!r}")
        print(f"{count} processes, {time_of_all + 1}. time: exit {done.returncode}", flush=True)
    return problems


def main(mpi, path, program, times):
    before = left_behind.shared_memory()
    launcher = one_host.Launcher(mpi, path, program)
    problems = check_edges(launcher, int(times))
    problems += left_behind.what_stays(before, one_host.wait_until)
    for each in problems:
        print(each, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
