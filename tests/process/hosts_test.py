# SPDX-License-Identifier: MIT
"""Runs a program of processes on two hosts by UCX and by MPI alone, and kills processes there.

usage: hosts_test.py MPI LAUNCHER PROGRAM      MPI is openmpi or mpich

The hosts are namespaces of this machine: each has a network, a name and shared memory of its own,
and between them is an Ethernet, with delay where the kernel can (tc netem). The exit status is 77,
and the reason is printed, where this machine does not allow that.
"""

import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

import launched_test as one_host

_SKIPPED = 77
_ADDRESSES = ("10.77.19.1", "10.77.19.2")
_DELAY = "200us"
_AS_SSH = """#!/bin/sh
# What a launcher begins a daemon with on a host: as-ssh [-option...] HOST COMMAND...
while case $1 in -*) true ;; *) false ;; esac; do shift; done
case $1 in
{first}) keeper={first_keeper} ;;
*) keeper={second_keeper} ;;
esac
shift
exec nsenter --target $keeper --net --uts --ipc --mount sh -c "$*"
"""


class NotAllowed(Exception):
    pass


def must(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NotAllowed(f"{' '.join(words)}: {done.stderr.strip()}")


def inside(keeper, *words):
    return ("nsenter", "--target", str(keeper.pid), "--net", "--uts", "--ipc", "--mount", *words)


class Hosts:
    """Two hosts, as long as the processes live that keep them."""

    def __init__(self):
        for tool in ("unshare", "nsenter", "ip"):
            if shutil.which(tool) is None:
                raise NotAllowed(f"{tool} was not found")
        self.keepers = [self.begin() for _ in _ADDRESSES]
        try:
            self.connect()
        except NotAllowed:
            self.end()
            raise

    @staticmethod
    def begin():
        # /sys shows the network of who has mounted it.
        own = "mount -t sysfs sysfs /sys; mount -t tmpfs tmpfs /dev/shm; echo; exec sleep 1000"
        keeper = subprocess.Popen(
            ["unshare", "--net", "--uts", "--ipc", "--mount", "sh", "-ec", own],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if not keeper.stdout.readline():
            raise NotAllowed(keeper.stderr.read().strip())
        return keeper

    def connect(self):
        ends = [f"np{keeper.pid}" for keeper in self.keepers]
        must("ip", "link", "add", ends[0], "type", "veth", "peer", "name", ends[1])
        self.delay = f"{_DELAY} on the way there and back"
        for keeper, end, address in zip(self.keepers, ends, _ADDRESSES):
            must("ip", "link", "set", end, "netns", str(keeper.pid))
            must(*inside(keeper, "hostname", "host-" + address.replace(".", "-")))
            must(*inside(keeper, "ip", "address", "add", f"{address}/24", "dev", end))
            must(*inside(keeper, "ip", "link", "set", end, "up"))
            must(*inside(keeper, "ip", "link", "set", "lo", "up"))
            try:
                must(*inside(keeper, "tc", "qdisc", "add", "dev", end, "root", "netem", "delay",
                             _DELAY))
            except (NotAllowed, OSError) as error:
                self.delay = f"none: {error}"

    def end(self):
        for keeper in self.keepers:
            keeper.kill()
            keeper.wait()


class Launcher(one_host.Launcher):
    """Begins processes on both hosts, from the first one."""

    def __init__(self, mpi, path, program, hosts, folder):
        super().__init__(mpi, path, str(pathlib.Path(program).resolve()))
        self.hosts = hosts
        self.as_ssh = pathlib.Path(folder) / "as-ssh"
        first, second = (keeper.pid for keeper in hosts.keepers)
        self.as_ssh.write_text(_AS_SSH.format(first=_ADDRESSES[0], first_keeper=first,
                                              second_keeper=second))
        self.as_ssh.chmod(0o755)

    def command(self, processes, *arguments, more=()):
        each = ",".join(f"{address}:{(processes + 1) // 2}" for address in _ADDRESSES)
        where = {
            "openmpi": ["--mca", "plm_rsh_agent", str(self.as_ssh), "--host", each, "-x",
                        "NOPAL_TRANSPORT"],
            "mpich": ["-launcher", "ssh", "-launcher-exec", str(self.as_ssh), "-localhost",
                      _ADDRESSES[0], "-hosts", each],
        }[self.mpi]
        words = super().command(processes, *arguments, more=[*where, *more])
        return list(inside(self.hosts.keepers[0], *words))


def check(launcher, transport):
    problems = []
    for processes in (2, 4, 8):  # MPI_Finalize of MPICH 4.0 did not return from each second one
        done = launcher.run(processes, "24", "3", NOPAL_TRANSPORT=transport)
        print(f"{launcher.mpi}, {transport}: {done.stdout.splitlines()[:1]}", flush=True)
        wanted = f"{processes} processes: fib(24) = 46368\n" * 3
        if done.returncode != 0 or done.stdout != wanted or done.stderr:
            problems.append(f"{processes} processes: exit {done.returncode}, output "
                            f"{done.stdout!r}, errors {done.stderr!r}")
    one = one_host.Killing(launcher, transport, more=one_host.WITHOUT_CLEANUP[launcher.mpi])
    one_host.wait_until_connected(one.folder.name, one.processes)  # before, no host hears of others
    seconds, wrong = one.kill_one(0, random)
    print(f"one killed: {seconds:.3f} s later {wrong or 'all well'}", flush=True)
    return [f"{transport}: {each}" for each in problems + wrong]


def main(mpi, path, program):
    try:
        hosts = Hosts()
    except NotAllowed as reason:
        print(f"skipped: two hosts cannot be had here: {reason}")
        return _SKIPPED
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
