# SPDX-License-Identifier: MIT
"""Runs a program of processes on two hosts by UCX and by MPI alone, chooses interfaces, and kills
processes there.

usage: hosts_test.py MPI LAUNCHER PROGRAM      MPI is openmpi or mpich

The exit status is 77, and the reason is printed, where this machine allows no two hosts.
"""

import pathlib
import random
import re
import sys
import tempfile

import launched_test as one_host

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "process"))

import two_hosts  # pylint: disable=wrong-import-position

# Open MPI's launcher says so when its child has called exec first, as on a busy machine.
_WARNING_OF_OPENMPI = re.compile(r"^.*plm:rsh: Warning: setpgid.*\n", re.MULTILINE)
# By process 0, unless the interfaces are chosen.
_OPEN = re.compile(r"^nopal: processes on other machines reach this one at np\d+ "
                   r"\(10\.77\.19\.1\), .*NOPAL_INTERFACES.*SECURITY\.md\)\n", re.MULTILINE)
_CHOSEN = {"NOPAL_INTERFACES": "10.77.19.0/24"}


class Launcher(one_host.Launcher):
    """Begins processes on both hosts, from the first one."""

    def __init__(self, mpi, path, program, hosts, folder):
        super().__init__(mpi, path, str(pathlib.Path(program).resolve()))
        self.hosts, self.folder = hosts, folder
        self.more = []

    def command(self, processes, *arguments, more=()):
        words = super().command(processes, *arguments, more=more)[1:]  # without the launcher
        if self.mpi == "openmpi":
            words = ["-x", "NOPAL_TRANSPORT", *self.more, *words]
        return self.hosts.command(self.mpi, self.path, self.folder, processes, *words)


    def run(self, processes, *arguments, **variables):
        self.more = ["-x", "NOPAL_INTERFACES"] if "NOPAL_INTERFACES" in variables else []
        return super().run(processes, *arguments, **variables)


def errors_of(done):
    return re.sub(_WARNING_OF_OPENMPI, "", done.stderr)


def check_interfaces(launcher, transport):
    """Those that are named are taken without a word, and those that are not there refused."""
    problems = []
    done = launcher.run(2, "24", "1", NOPAL_TRANSPORT=transport, **_CHOSEN)
    if done.returncode != 0 or errors_of(done):
        problems.append(f"chosen: exit {done.returncode}, errors {errors_of(done)!r}")
    done = launcher.run(2, "24", "1", NOPAL_TRANSPORT=transport, NOPAL_INTERFACES="lo")
    refused = "names lo, and this machine has no such interface" in done.stderr
    if done.returncode == 0 or not refused:
        problems.append(f"lo chosen: exit {done.returncode}, errors {done.stderr!r}")
    return problems


def check(launcher, transport):
    problems = check_interfaces(launcher, transport)
    for processes in (2, 4, 8):  # MPI_Finalize of MPICH 4.0 did not return in half of the runs
        done = launcher.run(processes, "24", "3", NOPAL_TRANSPORT=transport)
        print(f"{launcher.mpi}, {transport}: {done.stdout.splitlines()[:1]}", flush=True)
        wanted = f"{processes} processes: fib(24) = 46368\n" * 3
        errors, said = re.subn(_OPEN, "", errors_of(done))
        if done.returncode != 0 or done.stdout != wanted or errors or said != 1:
            problems.append(f"{processes} processes: exit {done.returncode}, output "
                            f"{done.stdout!r}, errors {done.stderr!r}")
    killing = one_host.Killing(launcher, transport, more=one_host.WITHOUT_CLEANUP[launcher.mpi])
    # Before that, no host hears of others.
    one_host.wait_until_connected(killing.folder.name, killing.processes)
    seconds, wrong = killing.kill_one(0, random)
    print(f"one killed: {seconds:.3f} s later {wrong or 'all well'}", flush=True)
    return [f"{transport}: {each}" for each in problems + wrong]


def main(mpi, path, program):
    try:
        hosts = two_hosts.Hosts()
    except two_hosts.NotAllowed as reason:
        print(f"skipped: two hosts cannot be had here: {reason}")
        return two_hosts.SKIPPED
    try:
        print(f"delay between the hosts: {hosts.delay}", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            launcher = Launcher(mpi, path, program, hosts, folder)
            problems = check(launcher, "ucx") + check(launcher, "mpi")
    finally:
        hosts.end()
    for each in problems:
        print(each, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
