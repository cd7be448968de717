# SPDX-License-Identifier: MIT
"""Begins a program by an MPI's launcher in ways that are not accepted, and checks what it says.

usage: refused_test.py MPI LAUNCHER PROGRAM [OTHER]

MPI is openmpi or mpich, and OTHER the launcher of the other one.
"""

import os
import re
import subprocess
import sys
import tempfile

import launched_test as one_host

_NAMES = {"openmpi": "Open MPI", "mpich": "MPICH"}
_BUILD_ID = b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0"  # the head of its note

# Of the program that the launcher begins: variables, arguments after the first two, what is said.
_CASES = [
    (
        {"NOPAL_PROCESSES": "3"},
        (),
        r"nopal: NOPAL_PROCESSES or process::options::processes asks for 3 processes, and the "
        r"launcher of MPI has begun 2; leave the number to one of the two",
    ),
    (
        {"NOPAL_TRANSPORT": "local"},
        (),
        r"nopal: the transport local is for processes that NOPAL_PROCESSES .*begun by a launcher "
        r"of MPI; accepted are ucx, ucx_messages, mpi and mpi_messages",
    ),
    (
        {"NOPAL_TRANSPORT": "ucx"},
        ("", "0"),
        r"nopal: MPI is needed with MPI_THREAD_FUNNELED at least, and the program has initialised "
        r"it with MPI_THREAD_SINGLE",
    ),
    (
        {"NOPAL_TRANSPORT": "mpi"},
        ("", "1"),
        r"nopal: MPI is needed with MPI_THREAD_SERIALIZED at least, and the program has "
        r"initialised it with MPI_THREAD_FUNNELED",
    ),
    (
        {"NOPAL_ADDRESSES_FIXED": "1"},  # as where the system forbids that
        (),
        r"nopal: the program lies at different addresses in processes 0 and 1 \(0x[0-9a-f]+ and "
        r"0x[0-9a-f]+\), because .*: link it with -no-pie, or begin it with setarch -R",
    ),
]

# What one of two processes has otherwise, as from a launcher that forwards no environment: the
# variable and what is said.
_DIFFERENT = [
    (
        "NOPAL_HEAP_SIZE=32M",
        "NOPAL_HEAP_SIZE or process::options::heap_size: 16777216 and 33554432",
    ),
    (
        "NOPAL_REGION_SIZE=64K",
        "NOPAL_REGION_SIZE or process::options::region_size: 262144 and 65536",
    ),
    ("NOPAL_TRANSPORT=mpi", "NOPAL_TRANSPORT or process::options::transport: [a-z]+ and mpi"),
    ("NOPAL_STATS=1", "NOPAL_STATS or process::options::stats: 0 and 1"),
]


def run(command, variables):
    return subprocess.run(
        command,
        env=one_host.environment(**variables),
        capture_output=True,
        text=True,
        timeout=one_host.SECONDS,
        check=False,
    )


def check(what, done, sentence):
    if done.returncode != 0 and re.search(sentence, done.stderr + done.stdout):
        return []
    return [f"{what}: exit {done.returncode}, and not {sentence!r} but {done.stderr!r}"]


def check_other_file(launcher):
    """One process runs the program, the other one a file with another build's number."""
    with tempfile.TemporaryDirectory() as folder:
        with open(launcher.program, "rb") as file:
            head, note, rest = file.read().partition(_BUILD_ID)
        path = os.path.join(folder, "other")
        with open(path, "wb") as file:
            file.write(head + note + bytes([rest[0] ^ 1]) + rest[1:])
        os.chmod(path, 0o755)
        words = [launcher.program, "20", "1", ":", "-n", "1", path, "20", "1"]
        return check(
            "another file",
            run(launcher.command(1, *words), {}),
            r"nopal: processes 0 and 1 were built differently \(the program\): begin the same "
            r"program with the same libraries everywhere",
        )


def check_different_options(launcher):
    problems = []
    for variable, said in _DIFFERENT:
        words = [launcher.program, "20", "1", ":", "-n", "1", "env", variable]
        done = run(launcher.command(1, *words, launcher.program, "20", "1"), {})
        sentence = rf"nopal: processes 0 and 1 differ in {said}; begin all with the same"
        problems += check(f"one process with {variable}", done, sentence)
    words = ["setarch", "-R", launcher.program, "20", "1", ""]
    # Open MPI's shared memory may leave files behind where a process ends so.
    without_files = {"OMPI_MCA_btl": "self,tcp"}
    done = run(launcher.command(1, *words, "2", ":", "-n", "1", *words, "3"), without_files)
    sentence = (
        "nopal: processes 0 and 1 differ in MPI's level of threads: MPI_THREAD_SERIALIZED and "
        "MPI_THREAD_MULTIPLE; begin all with the same"
    )
    return problems + check("other levels of threads", done, sentence)


def main(mpi, path, program, other=None):
    launcher = one_host.Launcher(mpi, path, program)
    problems = check_other_file(launcher)
    problems += check_different_options(launcher)
    for variables, more, sentence in _CASES:
        done = run(launcher.command(2, program, "20", "1", *more), variables)
        problems += check(f"{variables} {more}", done, sentence)
    if other:
        stranger = one_host.Launcher("mpich" if mpi == "openmpi" else "openmpi", other, program)
        problems += check(
            "by the other launcher",
            run(stranger.command(2, program, "20", "1"), {}),
            rf"nopal: this process was begun by mpirun of .*, and the program is linked with "
            rf"{_NAMES[mpi]}: begin it with mpirun of {_NAMES[mpi]}",
        )
    for each in problems:
        print(each, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
