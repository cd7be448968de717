# SPDX-License-Identifier: MIT
"""What processes of an MPI leave behind when they are killed, and what the next start removes."""

import ctypes
import mmap
import os
import re
import tempfile


def mapped_files():
    """Files of shared memory that a living process has, which another test may have begun."""
    found = set()
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/maps", encoding="utf-8", errors="replace") as file:
                found |= set(re.findall(r"/dev/shm/\S+", file.read()))
        except OSError:
            pass
    return found


def unused_segments():
    """System V segments that no process has: their numbers, and the processes that made them."""
    found = {}
    with open("/proc/sysvipc/shm", encoding="ascii") as file:
        for line in file.read().split("\n")[1:]:
            fields = line.split()
            if fields and fields[6] == "0":  # attached
                found[int(fields[1])] = int(fields[4])
    return found


def shared_memory():
    """Shared memory that no process has."""
    files = {f"/dev/shm/{name}" for name in os.listdir("/dev/shm")} - mapped_files()
    return files | {f"System V segment {number}" for number in unused_segments()}


SAID = re.compile(
    r"nopal: a process that was killed has left (/dev/shm/\S+) behind, which is removed now\n"
)


def remove_segments_of_killed_processes(killed):
    """UCX removes a System V segment some microseconds after it has made it; unless it is killed.
    MPICH's daemon kills too."""
    for number, maker in unused_segments().items():
        if maker in killed:
            print(f"UCX has left System V segment {number} behind in killed process {maker}")
            ctypes.CDLL(None).shmctl(number, 0, None)  # IPC_RMID


def check_next_start(launcher):
    """MPICH removes the files that it makes to begin or for a window, unless its processes are
    killed. The next start removes those of its user that nobody has, and says so."""
    in_use = tempfile.NamedTemporaryFile(dir="/dev/shm", prefix="mpich_shar_tmp")
    in_use.write(b"used")
    in_use.flush()
    mapped = tempfile.NamedTemporaryFile(dir="/dev/shm", prefix="ucx_shm_posix_", delete=False)
    mapped.write(b"used")
    mapped.flush()
    kept = mmap.mmap(mapped.fileno(), 4)
    mapped.close()
    stay = {in_use.name, mapped.name}
    left = set()
    for prefix, owner in (
        ("mpich_shar_tmp", None),
        ("ucx_shm_posix_", None),
        ("mpich_other_", None),
        ("mpich_shar_tmp", 65534),
    ):
        file, path = tempfile.mkstemp(dir="/dev/shm", prefix=prefix)
        os.close(file)
        if owner and os.geteuid() != 0:
            os.unlink(path)
            continue
        if owner:
            os.chown(path, owner, owner)
        (stay if owner or "other" in prefix else left).add(path)
    left |= {
        path
        for path in shared_memory()
        if re.match("/dev/shm/(mpich_shar_tmp|ucx_shm_posix_)", path) and path not in stay
    }
    done = launcher.run(4, "10", "1")
    said = set(SAID.findall(done.stderr))
    problems = [f"{path} stays, or nobody says that it goes" for path in left - said]
    problems += [f"{path} was in use, or another's" for path in stay if not os.path.exists(path)]
    if done.returncode != 0 or SAID.sub("", done.stderr):
        problems.append(f"the next start: exit {done.returncode}, {done.stderr!r}")
    print(f"the next start has removed {sorted(said)}", flush=True)
    kept.close()
    in_use.close()
    for path in filter(os.path.exists, stay):
        os.unlink(path)
    return problems


def what_stays(before, wait_until):
    """Nothing if at one moment nothing was left: other tests make and remove files meanwhile."""
    seen = []
    wait_until(lambda: seen.append(shared_memory() - before) or not seen[-1])
    return [f"{process} is left behind" for process in sorted(seen[-1])]
