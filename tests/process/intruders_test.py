# SPDX-License-Identifier: MIT
"""Strangers on the network reach the ports of processes that compute on two hosts.

usage: intruders_test.py MPI LAUNCHER PROGRAM      MPI is openmpi

Another user of each host does so, from that host and from the other one (intruder.py). Nothing is
written, the result is right, and the processes say that they have turned somebody away. Processes
that no launcher has begun have no port. Under MPICH the intruder would end the launcher, by a port
of its own. The exit status is 77, and the reason is printed, where this machine allows no two
hosts.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

import hosts_test
import launched_test as one_host
from hosts_test import two_hosts

_INTRUDER = str(pathlib.Path(__file__).resolve().with_name("intruder.py"))
_NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
_HEAP = 1 << 24  # NOPAL_HEAP_SIZE
_BLOCK = 0x7E9000000000
_TARGET = _BLOCK + _HEAP  # near the end of the heap, which this program does not come to
_LISTENS = "0A"
_SECOND = ("10.98.0.1", "10.99.0.1")  # addresses in another network, one for each host
_TURNED_AWAY = re.compile(r"nopal: process \d+ has turned away [\d.]+:\d+, which has connected to "
                          r"it without a proof that it is of this session; more such are not "
                          r"mentioned\n")


def ports(process):
    """Where a process takes connections: addresses and ports."""
    own = set()
    for number in os.listdir(f"/proc/{process}/fd"):
        try:
            own.add(os.readlink(f"/proc/{process}/fd/{number}"))
        except OSError:
            pass
    found = []
    with open(f"/proc/{process}/net/tcp", encoding="ascii") as file:
        for line in file.read().splitlines()[1:]:
            fields = line.split()
            if fields[3] == _LISTENS and f"socket:[{fields[9]}]" in own:
                host, port = fields[1].split(":")
                parts = reversed(bytes.fromhex(host))
                found.append((".".join(map(str, parts)), int(port, 16)))
    return found


def read(process, address, size=8):
    with open(f"/proc/{process}/mem", "rb") as memory:
        memory.seek(address)
        return memory.read(size)


def harm_of(process):
    """What a process has suffered, or nothing."""
    try:
        found = read(process, _TARGET)
    except OSError:
        return f"process {process} has ended"
    return f"{found} stands in process {process}" if found != bytes(8) else ""


class Intruders:
    def __init__(self, hosts, addresses):
        self.hosts, self.addresses, self.running = hosts, addresses, []

    def intrude(self, process, host_of_process):
        """From both hosts. The loopback and the wildcard are reached from the process's host."""
        for address, port in ports(process):
            outer = self.addresses[host_of_process] if address == "0.0.0.0" else address
            for keeper in self.hosts.keepers:
                own = keeper is self.hosts.keepers[host_of_process]
                if not own and outer.startswith("127."):
                    continue
                print(f"{'its own' if own else 'the other'} host: {outer}:{port}", flush=True)
                command = two_hosts.inside(keeper, *_NOBODY, sys.executable, "-B", _INTRUDER,
                                           outer, str(port), f"{_TARGET:x}")
                self.running.append(subprocess.Popen(command, stdin=subprocess.PIPE,
                                                     stdout=subprocess.PIPE, text=True))

    def have_all(self, said):
        return all([each.stdout.readline() == f"{said}\n" for each in self.running])

    def go_on(self):
        for each in self.running:
            each.stdin.write("\n")
            each.stdin.flush()

    def go(self):
        for each in self.running:
            each.communicate()


def problems_of_two_hosts(hosts, mpi, path, program):
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        launcher = hosts_test.Launcher(mpi, path, program, hosts, folder)
        launcher.more = ["-x", "NOPAL_INTERFACES"]
        running = subprocess.Popen(
            launcher.command(2, launcher.program, "until", "1", folder),
            env=one_host.environment(NOPAL_TRANSPORT="ucx", NOPAL_INTERFACES="10.77.19.0/24"),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        one_host.wait_until_connected(folder, 2)
        intruders = Intruders(hosts, two_hosts.ADDRESSES)
        processes = sorted(one_host.texts(folder))
        networks = [os.stat(f"/proc/{keeper.pid}/ns/net").st_ino for keeper in hosts.keepers]
        for process in processes:
            where = networks.index(os.stat(f"/proc/{process}/ns/net").st_ino)
            intruders.intrude(process, where)
        for step in ("written", "done"):
            if not intruders.have_all(step):
                problems.append(f"an intruder has not come to {step!r}")
            problems += [wrong for wrong in map(harm_of, processes) if wrong]
            if step == "written":
                intruders.go_on()
        pathlib.Path(folder, "over").touch()
        output, errors = running.communicate(timeout=one_host.SECONDS)
        intruders.go()
        said = "".join(one_host.texts(folder).values())
    print(said, end="", flush=True)
    if running.returncode != 0 or "until: right\n" not in output:
        problems.append(f"exit {running.returncode}, output {output!r}, errors {errors!r}")
    if len(re.findall(_TURNED_AWAY, said)) != 2 or re.sub(_TURNED_AWAY, "", said):
        problems.append(f"the processes have said {said!r}")
    return problems


def problems_of_interfaces(hosts, mpi, path, program):
    """Each host has an interface to a network of its own, too: no port is open there."""
    for number, keeper in enumerate(hosts.keepers):
        for words in (("link", "add", "second", "type", "veth", "peer", "name", "third"),
                      ("address", "add", f"{_SECOND[number]}/24", "dev", "second"),
                      ("link", "set", "second", "up")):
            two_hosts.must(*two_hosts.inside(keeper, "ip", *words))
    problems = []
    for choice in ({}, {"NOPAL_INTERFACES": "10.77.0.0/16"}):
        with tempfile.TemporaryDirectory() as folder:
            launcher = hosts_test.Launcher(mpi, path, program, hosts, folder)
            launcher.more = [word for name in choice for word in ("-x", name)]
            for part in ("oob", "btl"):  # the MPI's own ports are not asked about
                launcher.more += ["--mca", f"{part}_tcp_if_include", "10.77.19.0/24"]
            running = subprocess.Popen(
                launcher.command(2, launcher.program, "until", "1", folder),
                env=one_host.environment(NOPAL_TRANSPORT="ucx", **choice),
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            one_host.wait_until_connected(folder, 2)
            found = [host for process in one_host.texts(folder) for host, _ in ports(process)]
            pathlib.Path(folder, "over").touch()
            output, errors = running.communicate(timeout=one_host.SECONDS)
        if (set(two_hosts.ADDRESSES) - set(found) or set(_SECOND) & set(found) or
                running.returncode != 0 or "until: right\n" not in output):
            problems.append(f"{choice}: ports at {found}, exit {running.returncode}, errors "
                            f"{errors!r}")
    return problems


def problems_of_one_host(program):
    """Processes that the program forks."""
    with tempfile.TemporaryDirectory() as folder:
        running = subprocess.Popen(
            [program, "until", "1", folder], stdout=subprocess.PIPE, text=True,
            env=one_host.environment(NOPAL_PROCESSES="2"))
        one_host.wait_until_connected(folder, 2)
        open_ports = ports(running.pid)
        pathlib.Path(folder, "over").touch()
        output, _ = running.communicate(timeout=one_host.SECONDS)
    if open_ports or "until: right\n" not in output:
        return [f"on one host: ports {open_ports}, output {output!r}"]
    return []


def main(mpi, path, program):
    problems = problems_of_one_host(program)
    try:
        hosts = two_hosts.Hosts()
    except two_hosts.NotAllowed as reason:
        print(f"skipped: two hosts cannot be had here: {reason}")
        return 1 if problems else two_hosts.SKIPPED
    try:
        problems += problems_of_two_hosts(hosts, mpi, path, program)
        problems += problems_of_interfaces(hosts, mpi, path, program)
    finally:
        hosts.end()
    for each in problems:
        print(each, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
