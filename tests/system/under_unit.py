"""under_unit.py - runs a command as the service manager would run the unit's: its system call
filter, address families, no writable code, no capabilities, umask and descriptors. What the filter
does not allow ends the process (SIGSYS); under the manager it would get EPERM.

    python3 under_unit.py UNIT COMMAND...

The files that the unit hides are not hidden: that needs mounts.
"""
import ctypes
import errno
import functools
import os
import pathlib
import re
import resource
import struct
import subprocess
import sys

LOAD, EQUAL, HAS, RETURN = 0x20, 0x15, 0x45, 0x06  # BPF: ld [k], jeq, jset, ret
ALLOW, KILL, NO_SUCH_CALL = 0x7FFF0000, 0x80000000, 0x00050000 | errno.ENOSYS
CALL, FIRST_ARGUMENT = 0, 16  # struct seccomp_data
PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, FILTER = 22, 24, 38, 2
CAPABILITIES = 41
WRITE, EXECUTE = 2, 4
FAMILIES = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10}
NUMBERS = pathlib.Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")


def settings(unit):
    """Each setting of the unit with its values in their order."""
    found = {}
    for line in pathlib.Path(unit).read_text().splitlines():
        if match := re.fullmatch(r"([A-Za-z]+)=(.*)", line):
            found.setdefault(match[1], []).append(match[2])
    return found


@functools.cache
def members(group):
    """The system calls of a group, as this machine's systemd knows them."""
    text = subprocess.run(["systemd-analyze", "syscall-filter", group], capture_output=True,
                          text=True, check=True).stdout
    words = {word for line in text.splitlines()[1:] if (word := line.strip())
             and not word.startswith("#")}
    return frozenset().union(*(members(word) if word[0] == "@" else {word} for word in words))


def allowed(filters):
    """systemd.exec(5): a list of names; one that begins with ~ takes names out of those before."""
    names = set(members("@default"))
    for text in filters:
        listed = set()
        for word in text.removeprefix("~").split():
            listed |= members(word) if word[0] == "@" else {word}
        names = names - listed if text.startswith("~") else names | listed
    return names


def program(names, families):
    """The filter in BPF: a call that is not named, a socket of another family, and memory that is
    writable and executable end the process."""
    numbers = {name: int(number) for name, number in
               re.findall(r"#define __NR_(\w+) (\d+)", NUMBERS.read_text())}
    steps = [(LOAD, 0, 0, CALL)]

    def arguments(call, index, *test):
        """A test of the lower half of one argument of one call; it may end the process."""
        steps.append((EQUAL, 0, len(test) + 1, numbers[call]))
        steps.append((LOAD, 0, 0, FIRST_ARGUMENT + 8 * index))
        steps.extend(test)

    arguments("socket", 0,
              *((EQUAL, len(families) - at, 0, FAMILIES[name])
                for at, name in enumerate(families)),
              (RETURN, 0, 0, KILL), (RETURN, 0, 0, ALLOW))
    arguments("mmap", 2, (HAS, 0, 2, WRITE), (HAS, 0, 1, EXECUTE), (RETURN, 0, 0, KILL),
              (RETURN, 0, 0, ALLOW))
    for call in ("mprotect", "pkey_mprotect"):
        arguments(call, 2, (HAS, 0, 1, EXECUTE), (RETURN, 0, 0, KILL), (RETURN, 0, 0, ALLOW))
    # RestrictNamespaces= cannot see the flags of clone3; the C library then calls clone.
    steps += [(EQUAL, 0, 1, numbers["clone3"]), (RETURN, 0, 0, NO_SUCH_CALL)]
    for name in sorted(names & numbers.keys()):
        steps.append((EQUAL, 0, 1, numbers[name]))
        steps.append((RETURN, 0, 0, ALLOW))
    steps.append((RETURN, 0, 0, KILL))
    return b"".join(struct.pack("<HBBI", *step) for step in steps)


def apply(unit):
    """Binds this process and what it executes."""
    found = settings(unit)
    assert found["CapabilityBoundingSet"] == [""] and found["NoNewPrivileges"] == ["yes"]
    assert found["MemoryDenyWriteExecute"] == found["RestrictNamespaces"] == ["yes"]
    code = program(allowed(found["SystemCallFilter"]), found["RestrictAddressFamilies"][0].split())
    libc = ctypes.CDLL(None, use_errno=True)
    os.umask(int(found["UMask"][0], 8))
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    files = min(int(found["LimitNOFILE"][0]), most)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    if os.geteuid() == 0:
        for capability in range(CAPABILITIES):
            libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    buffer = ctypes.create_string_buffer(code, len(code))
    filters = ctypes.create_string_buffer(
        struct.pack("<HxxxxxxQ", len(code) // 8, ctypes.addressof(buffer)))
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or \
            libc.prctl(PR_SET_SECCOMP, FILTER, ctypes.c_void_p(ctypes.addressof(filters)), 0, 0):
        raise OSError(ctypes.get_errno(), "the filter cannot be set")


def main():
    apply(sys.argv[1])
    os.execv(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()
