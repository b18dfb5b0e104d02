"""Strangers: connections from outside a job to the ports on which its processes listen. To each port come 300 that say nothing, 300
that write garbage and 300 that write a byte now and then; one that is closed comes again."""
import contextlib
import os
import random
import socket
import threading
import time

EACH = 300
LISTENS = "0A"  # in /proc/net/tcp
LOOK_S, SLOW_S = .001, .1
KINDS = ("idle", "garbage", "slow")


def sockets_of(pid):
    """Inode numbers, as /proc/net/tcp has them. A process may end meanwhile."""
    found = set()
    with contextlib.suppress(OSError):
        for fd in os.scandir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                name = os.readlink(fd.path)
                if name.startswith("socket:["):
                    found.add(name[8:-1])
    return found


def address(text):
    """Of "0100007F:1F90", in words of the machine's byte order."""
    host, port = text.split(":")
    raw = b"".join(bytes.fromhex(host[i:i + 8])[::-1] for i in range(0, len(host), 8))
    return socket.inet_ntop(socket.AF_INET if len(raw) == 4 else socket.AF_INET6, raw), int(port, 16)


def ports_of(pids):
    """What these processes listen on: addresses, as connect takes them."""
    inodes = set().union(*map(sockets_of, pids))
    found = set()
    for table in ("tcp", "tcp6"):
        with open("/proc/net/" + table, encoding="ascii") as f:
            for row in list(f)[1:]:
                words = row.split()
                if words[3] == LISTENS and words[9] in inodes:
                    found.add(address(words[1]))
    return found


class Strangers(threading.Thread):
    """pids() names the processes. `met` has each port that they were seen to listen on, and how many strangers it has let connect."""

    def __init__(self, pids):
        super().__init__(daemon=True)
        self.pids, self.met, self.over = pids, {}, threading.Event()
        self.guests = {}  # of each port, and kind: sockets
        self.draw = random.Random(1)

    def come(self, port, kind):
        guest = socket.socket(socket.AF_INET6 if ":" in port[0] else socket.AF_INET)
        guest.settimeout(1)
        try:
            guest.connect(port)
            if kind == "garbage":
                guest.send(self.draw.randbytes(self.draw.randint(1, 4096)))
        except OSError:
            guest.close()
            return None
        guest.setblocking(False)
        self.met[port] = self.met.get(port, 0) + 1
        return guest

    def stays(self, guest, kind):
        try:
            if kind == "slow":
                guest.send(b"x")
            if guest.recv(1):
                return True
        except BlockingIOError:
            return True
        except OSError:
            pass
        guest.close()
        return False

    def besiege(self, port):
        for kind in KINDS:
            guests = [guest for guest in self.guests.get((port, kind), ()) if self.stays(guest, kind)]
            while len(guests) < EACH and (guest := self.come(port, kind)):
                guests.append(guest)
            self.guests[port, kind] = guests

    def met_by(self, count):
        """How many ports have had so many strangers."""
        return sum(met >= count for met in list(self.met.values()))

    def run(self):
        looked = time.monotonic()
        while not self.over.is_set():
            ports = ports_of(self.pids())
            due = time.monotonic() - looked > SLOW_S
            for port in ports if due else ports - set(self.met):
                self.besiege(port)
            if due:
                looked = time.monotonic()
            time.sleep(LOOK_S)

    def end(self):
        self.over.set()
        self.join()
        for guests in self.guests.values():
            for guest in guests:
                guest.close()
