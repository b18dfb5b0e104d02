#!/usr/bin/env python3
"""Run a command for at most so long, and leave none of its processes behind: sessions of their own, orphans and children that
ignore SIGTERM are ended too.

Usage: tests/gpu/within.py SECONDS COMMAND...

Ends all of it as well on SIGTERM, SIGINT and SIGHUP, and where its own parent is gone, killed or not. Has a session of its own,
so that what kills the caller's group does not kill it. Exit status: the command's (128 and the signal that ended it); 124 where
it ran too long, 143 where it was to end before."""
import ctypes
import os
import signal
import subprocess
import sys
import time

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
PATIENCE_S = 5  # between SIGTERM and SIGKILL
ENDING_S = 2  # that processes whose command has ended may still take: a rank that was killed gives its GPU's memory back
TO_END = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}


def prctl(option, value):
    if ctypes.CDLL(None, use_errno=True).prctl(option, ctypes.c_ulong(value), 0, 0, 0):
        sys.exit(f"within: prctl({option}) failed: {os.strerror(ctypes.get_errno())}")


def descendants():
    """Process ids of all that came from this process, and have not ended."""
    children = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as f:
                state, parent = f.read().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if state not in "ZX":
            children.setdefault(int(parent), []).append(int(name))
    found, new = [], [os.getpid()]
    while new:
        new = [child for parent in new for child in children.get(parent, ())]
        found += new
    return found


def reap():
    """Statuses of the children that have ended, by process id; orphans' are among them."""
    ended = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if not pid:
            return ended
        ended[pid] = os.waitstatus_to_exitcode(status)


def end_all():
    """How many processes had to be ended."""
    count = len(descendants())
    began = time.monotonic()
    told = set()
    while True:
        reap()
        left = descendants()
        if not left:
            return count
        late = time.monotonic() - began > PATIENCE_S
        for pid in left:
            if late or pid not in told:
                told.add(pid)
                try:
                    os.kill(pid, signal.SIGKILL if late else signal.SIGTERM)
                except ProcessLookupError:
                    pass
        signal.sigtimedwait({signal.SIGCHLD}, .05)


def wait_for_ending():
    end = time.monotonic() + ENDING_S
    while descendants() and time.monotonic() < end:
        signal.sigtimedwait({signal.SIGCHLD}, .05)
        reap()


def main():
    parent = os.getppid()
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    limit = time.monotonic() + float(sys.argv[1])
    signals = TO_END | {signal.SIGCHLD}
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    if os.getpid() != os.getpgrp():
        os.setsid()
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        return 143
    child = subprocess.Popen(sys.argv[2:], start_new_session=True,
                             preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_UNBLOCK, signals))
    while True:
        ended = reap()
        if child.pid in ended:
            status = ended[child.pid]
            wait_for_ending()
            left = end_all()
            if left:
                print(f"within: {left} process{'es' * (left > 1)} had not ended", file=sys.stderr)
            return status if status >= 0 else 128 - status
        told = signal.sigtimedwait(signals, max(0, limit - time.monotonic()))
        if told and told.si_signo == signal.SIGCHLD:
            continue
        end_all()
        return 143 if told else 124


if __name__ == "__main__":
    sys.exit(main())
