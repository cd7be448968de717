# SPDX-License-Identifier: MIT
"""Two hosts on this machine, and programs of processes that an MPI's launcher begins on both.

usage: two_hosts.py MPI LAUNCHER [OPTION...] -n N PROGRAM [ARGUMENT...]
       two_hosts.py --check

MPI is openmpi or mpich. The hosts are namespaces of this machine: each has a network, a name and
shared memory of its own, and between them is an Ethernet, with delay where the kernel can (tc
netem). Half of the processes run on each. The exit status is the launcher's, or 77 if this machine
allows no such hosts; the reason is printed then. --check only finds out whether it does.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
ADDRESSES = ("10.77.19.1", "10.77.19.2")
_DELAY = "200us"
_AS_SSH = """#!/bin/sh
# The program with which a launcher begins a daemon on a host: as-ssh [-option...] HOST COMMAND...
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
        self.keepers = [self.begin() for _ in ADDRESSES]
        try:
            self.connect()
        except NotAllowed:
            self.end()
            raise

    @staticmethod
    def begin():
        # /sys shows the network of the process that has mounted it.
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
        for keeper, end, address in zip(self.keepers, ends, ADDRESSES):
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

    def command(self, mpi, launcher, folder, processes, *more):
        """The words that begin processes on both; the launcher runs on the first host."""
        as_ssh = pathlib.Path(folder) / "as-ssh"
        first, second = (keeper.pid for keeper in self.keepers)
        as_ssh.write_text(_AS_SSH.format(first=ADDRESSES[0], first_keeper=first,
                                         second_keeper=second))
        as_ssh.chmod(0o755)
        each = ",".join(f"{address}:{(processes + 1) // 2}" for address in ADDRESSES)
        where = {
            "openmpi": ["--mca", "plm_rsh_agent", str(as_ssh), "--host", each],
            "mpich": ["-launcher", "ssh", "-launcher-exec", str(as_ssh), "-localhost",
                      ADDRESSES[0], "-hosts", each],
        }[mpi]
        return list(inside(self.keepers[0], launcher, *where, *more))


def main(mpi, launcher=None, *words):
    try:
        hosts = Hosts()
    except NotAllowed as reason:
        print(f"two hosts cannot be had here: {reason}")
        return SKIPPED
    try:
        if mpi == "--check":
            return 0
        at = words.index("-n")
        options, (count, program, *arguments) = words[:at], words[at + 1:]
        with tempfile.TemporaryDirectory() as folder:
            command = hosts.command(mpi, launcher, folder, int(count), *options, "-n", count,
                                    str(pathlib.Path(program).resolve()), *arguments)
            return subprocess.run(command, check=False).returncode
    finally:
        hosts.end()


if __name__ == "__main__":
    if sys.argv[1:] != ["--check"] and (len(sys.argv) < 6 or "-n" not in sys.argv):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
