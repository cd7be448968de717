# SPDX-License-Identifier: MIT
"""Begins a program by the launcher of an MPI, and checks what it says and how it ends.

usage: launched_test.py CASE MPI LAUNCHER PROGRAM [MORE]     MPI is openmpi or mpich

  ucx, tcp, keys, mpi, mpi_messages
                   computes on 1, 2, 4 and 8 processes: by what `ucx` chooses; as between machines
                   over TCP, and by UCX's access to memory, for which its shared memory stands; by
                   MPI alone, and by MPI alone as between machines
  killed           kills one of four processes at some moment from the first instruction of main on,
                   MORE times, by each transport, under a launcher that does not clean up: each
                   other one says so and exits with 70
  launcher         the same with the launcher killed
  forks            by each transport: tasks fork and execute other programs; by two of them: one
                   of four processes is killed that each have a child, which lives on

MPICH's daemon ends the others too, when it notices; so under it not each of them comes to say so.
Where an MPI meets the death in a call of its own, it ends the process in words of its own.
Nothing is left behind: no process, no System V segment, and no file in /dev/shm when the launcher
has begun processes once more. The moments come from
the seed in NOPAL_TEST_SEED, which is printed.
"""

import collections
import ctypes
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import left_behind  # pylint: disable=wrong-import-position
from patience import SECONDS  # pylint: disable=wrong-import-position

_ALONE = {
    "openmpi": ["--oversubscribe", "--bind-to", "none"],
    "mpich": [],
}
WITHOUT_CLEANUP = {"openmpi": ["--enable-recovery"], "mpich": ["-disable-auto-cleanup"]}
_MPICH_OVER_TCP = {"UCX_TLS": "tcp,self"}
TRANSPORTS = {
    "ucx": {},
    "tcp": {"NOPAL_TRANSPORT": "ucx_messages", "NOPAL_UCX_TLS": "tcp,self", **_MPICH_OVER_TCP},
    "keys": {"NOPAL_TRANSPORT": "ucx_messages", "NOPAL_UCX_TLS": "sysv,self", **_MPICH_OVER_TCP},
    "mpi": {"NOPAL_TRANSPORT": "mpi"},
    "mpi_messages": {"NOPAL_TRANSPORT": "mpi_messages", **_MPICH_OVER_TCP},
}
_TO_END_S = 2  # of a launcher, whose end nothing depends on
DIED = 70
_SENTENCE = re.compile(
    r"^nopal: (process \d+ has died before the computation has ended, so this process ends too"
    r"|another process of this machine has died before the computation has begun, so this process "
    r"ends too"
    r"|\d of the \d processes of this machine have come, and the launcher begins no more: another "
    r"one has died, so this process ends too"
    r"|process \d+ cannot be reached by TCP at any address of its machine"
    r"|(process \d+|another process) cannot be reached any more \(.*\), so this process ends too"
    r"|UCX cannot answer another process any more, which has probably died, so this process ends "
    r"too"
    r"|the launcher has died before the computation has ended, so this process ends too)$",
    re.MULTILINE,
)
# While MPI begins.
_SENTENCE_OF_MPI = re.compile(r"Fatal error in internal_\w+|OPAL ERROR: |ORTE_ERROR_LOG: ")
_KILLED = str(128 + signal.SIGKILL)


def environment(**more):
    variables = {k: v for k, v in os.environ.items() if not k.startswith("NOPAL_")}
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return {**variables, **allowed, **more}


class Launcher:
    def __init__(self, mpi, path, program):
        self.mpi, self.path, self.program = mpi, path, program

    def command(self, processes, *arguments, more=()):
        return [self.path, *_ALONE[self.mpi], *more, "-n", str(processes), *arguments]

    def run(self, processes, *arguments, **variables):
        return subprocess.run(
            self.command(processes, self.program, *arguments),
            env=environment(**variables),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )


def check_computes(launcher, transport):
    problems = []
    for processes in (1, 2, 4, 8):
        done = launcher.run(processes, "24", "3", **TRANSPORTS[transport])
        wanted = f"{processes} processes: fib(24) = 46368\n" * 3
        print(f"{launcher.mpi}, {transport}: {done.stdout.splitlines()[:1]}", flush=True)
        if done.returncode != 0 or done.stdout != wanted or left_behind.SAID.sub("", done.stderr):
            problems.append(
                f"{processes} processes by {transport}: exit {done.returncode}, output "
                f"{done.stdout!r}, errors {done.stderr!r}"
            )
    # The program initialises MPI itself, with MPI_THREAD_SERIALIZED.
    own = ["setarch", "-R", launcher.program, "24", "3", "", "2"]
    done = subprocess.run(
        launcher.command(2, *own),
        env=environment(**TRANSPORTS[transport]),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    if done.returncode != 0 or done.stdout != "2 processes: fib(24) = 46368\n" * 3:
        problems.append(f"MPI of its own, {transport}: exit {done.returncode}, {done.stderr!r}")
    return problems


def wait_until(condition, pause_s=0.01):
    """False if it has not come true after SECONDS."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(pause_s)
    return condition()


def texts(folder):
    """What each process has said, by its number at the system."""
    found = {}
    for name in os.listdir(folder):
        if name.isdigit():
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                found[int(name)] = file.read()
    return found


def wait_until_connected(folder, processes, sign="connected."):
    def all_are():
        return sum(name.startswith(sign) for name in os.listdir(folder)) == processes

    if not wait_until(all_are):
        raise TimeoutError(f"{processes} processes have not connected within {SECONDS} s")


def is_alive(process):
    try:
        with open(f"/proc/{process}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def living(folder, program):
    """The processes that the launcher has begun with this folder, and their shells."""
    found = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/cmdline", encoding="utf-8", errors="replace") as file:
                words = file.read().split("\0")
        except OSError:
            continue
        if words[0] in ("sh", program) and folder in words:
            found.append(int(process))
    return found


def unheard(texts_of_survivors, mpi):
    """What is wrong with what the survivors have said."""
    said = [text for text in texts_of_survivors.values() if text]
    wrong = [t for t in said if not _SENTENCE.search(t) and not _SENTENCE_OF_MPI.search(t)]
    problems = [f"a process has said {text!r}" for text in wrong]
    silent = len(texts_of_survivors) - len(said)
    if silent and mpi == "openmpi":
        problems.append(f"{silent} processes have said nothing")
    return problems


class Killing:
    """Four processes that compute until they are killed, and what becomes of them. So many have
    come to the first instruction of main."""

    processes = 4

    def __init__(self, launcher, transport, begun=4, more=(), what="34", runs="1000"):
        self.launcher = launcher
        self.folder = tempfile.TemporaryDirectory()
        # The shell notes how its process has ended, since the launcher does not say.
        shell = 'trap "" USR1; "$@" 2>"$0/said.$$"; code=$?; echo $code >"$0/status.$$"; exit $code'
        words = [launcher.program, what, runs, self.folder.name]
        self.running = subprocess.Popen(
            launcher.command(
                self.processes, "sh", "-c", shell, self.folder.name, *words, more=more
            ),
            env=environment(**TRANSPORTS[transport]),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        if not wait_until(lambda: len(texts(self.folder.name)) >= begun, pause_s=0.0005):
            raise TimeoutError(f"{begun} processes have not begun within {SECONDS} s")

    def statuses(self):
        """Those that are written whole."""
        found = []
        for name in os.listdir(self.folder.name):
            if name.startswith("status."):
                with open(os.path.join(self.folder.name, name), encoding="ascii") as file:
                    found.append(file.read())
        return sorted(text.strip() for text in found if text.endswith("\n"))

    def kill_one(self, at, chance):
        """Kills one that has begun so many seconds later; what is wrong then."""
        time.sleep(at)
        victim = chance.choice(sorted(texts(self.folder.name)))
        os.kill(victim, signal.SIGKILL)
        return self.judge(victim)

    def has_ended(self):
        """All have begun by then, or will not."""
        if living(self.folder.name, self.launcher.program):
            return False
        return len(self.statuses()) == self.processes or self.running.poll() is not None

    def judge(self, victim):
        began = time.monotonic()
        in_time = wait_until(self.has_ended)
        seconds = time.monotonic() - began
        said = texts(self.folder.name)
        problems = []
        if not in_time:
            problems.append(f"some go on after {SECONDS} s")
            for process in living(self.folder.name, self.launcher.program):
                os.kill(process, signal.SIGKILL)
        others = {process: text for process, text in said.items() if process != victim}
        problems += unheard(others, self.launcher.mpi)
        if self.launcher.mpi == "openmpi":
            by_mpi = sum(_SENTENCE.search(text) is None for text in others.values() if text)
            wanted = collections.Counter({str(DIED): 3 - by_mpi, "1": by_mpi, _KILLED: 1})
            found = collections.Counter(self.statuses())
            if in_time and found != wanted:
                problems.append(f"the processes have exited with {self.statuses()}")
        killed = said if self.launcher.mpi == "mpich" else [victim]
        left_behind.remove_segments_of_killed_processes(killed)
        self.spoke = any(_SENTENCE.search(text) for text in others.values())
        self.end_launcher(in_time)
        self.folder.cleanup()
        return seconds, problems

    def end_launcher(self, in_time):
        """Open MPI's sometimes waits in libpmix for a lock that it holds, when a process has died
        that had not told its end; its children are zombies then."""
        try:
            if in_time:
                self.running.communicate(timeout=_TO_END_S)
                return
        except subprocess.TimeoutExpired:
            print(f"the launcher has not ended {_TO_END_S} s after its processes, so it is killed")
        self.running.kill()
        self.running.communicate(timeout=SECONDS)


def check_killed(launcher, times):
    seed = int(os.environ.get("NOPAL_TEST_SEED", "0")) or random.randrange(1 << 32)
    print(f"NOPAL_TEST_SEED={seed}", flush=True)
    chance = random.Random(seed)
    problems = []
    spoke = 0
    for i in range(times):
        transport = list(TRANSPORTS)[i % len(TRANSPORTS)]
        begun = chance.choice((1, 2, 3, 4, 4, 4))
        at = chance.uniform(0, chance.choice((0.01, 0.3, 1.5)))
        killing = Killing(launcher, transport, begun, WITHOUT_CLEANUP[launcher.mpi])
        seconds, wrong = killing.kill_one(at, chance)
        what = f"{transport}, killed {at:.3f} s after {begun} had begun"
        print(f"{what}: {seconds:.3f} s later {wrong or 'all well'}", flush=True)
        problems += [f"{what}: {each}" for each in wrong]
        spoke += killing.spoke
    if spoke == 0:
        problems.append(f"no process has said after any of {times} deaths why it ends")
    return problems


def check_forks(launcher):
    chance = random.Random(1)
    problems = []
    for transport in TRANSPORTS:
        done = launcher.run(4, "forks", "1", **TRANSPORTS[transport])
        wanted = "4 processes: fib(10) = 55\nforks: 1\n"
        if done.returncode != 0 or done.stdout != wanted or left_behind.SAID.sub("", done.stderr):
            problems.append(
                f"forks by {transport}: exit {done.returncode}, {done.stdout!r}, {done.stderr!r}"
            )
        if transport not in ("ucx", "mpi"):
            continue
        more = WITHOUT_CLEANUP[launcher.mpi]
        killing = Killing(launcher, transport, 4, more, "parents", "1")
        wait_until_connected(killing.folder.name, 4, "parent.")
        seconds, wrong = killing.kill_one(0, chance)
        print(f"{transport}, a parent: {seconds:.3f} s later {wrong or 'all well'}", flush=True)
        problems += [f"a child of a dead process by {transport}: {each}" for each in wrong]
    return problems


def adopted_statuses():
    found = []
    try:
        while True:
            found.append(os.waitstatus_to_exitcode(os.waitpid(-1, 0)[1]))
    except ChildProcessError:
        return found


def check_launcher(launcher):
    """Processes whose parent dies become children of this one."""
    ctypes.CDLL(None).prctl(36, 1)  # PR_SET_CHILD_SUBREAPER
    problems = []
    for transport in TRANSPORTS:
        with tempfile.TemporaryDirectory() as folder:
            running = subprocess.Popen(
                launcher.command(4, launcher.program, "34", "1000", folder),
                env=environment(**TRANSPORTS[transport]),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            wait_until_connected(folder, 4)
            running.kill()
            running.wait()
            began = time.monotonic()
            if not wait_until(lambda: not any(is_alive(process) for process in texts(folder))):
                problems.append(f"{transport}: some go on after {SECONDS} s")
            print(f"{transport}: {time.monotonic() - began:.3f} s later all have ended", flush=True)
            said = texts(folder)
            for process in filter(is_alive, said):
                os.kill(process, signal.SIGKILL)
            left_behind.remove_segments_of_killed_processes(said if launcher.mpi == "mpich" else [])
            if launcher.mpi == "openmpi":
                problems += [f"{transport}: {each}" for each in unheard(said, launcher.mpi)]
                problems += [
                    f"{transport}: a process has exited with {status}"
                    for status in adopted_statuses()
                    if status != DIED
                ]
    return problems


def main(case, mpi, path, program, more=None):
    before = left_behind.shared_memory()
    launcher = Launcher(mpi, path, program)
    if case in TRANSPORTS:
        problems = check_computes(launcher, case)
    elif case == "forks":
        problems = check_forks(launcher)
    elif case == "killed":
        problems = check_killed(launcher, int(more))
    else:
        problems = check_launcher(launcher)
    if case in ("killed", "launcher"):
        problems += left_behind.check_next_start(launcher)
    problems += left_behind.what_stays(before, wait_until)
    for each in problems:
        print(each, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    if len(sys.argv) not in (5, 6):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
