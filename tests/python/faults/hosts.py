"""Faults of the cable between two hosts, which are network namespaces."""
import os
import subprocess
import time

import darknet
from namespaces import NAMESPACES, ON_HOSTS
from trial import TIMEOUT_S, Trial, Unavailable


class TwoHosts(Trial):
    before = (NAMESPACES, "mpirun")
    starts = ()
    owner = None
    up = ("up",)

    def prepare(self):
        self.owner = subprocess.Popen(["sleep", "3600"])  # the hosts are its own
        self.environment = {"DDP_HOSTS_ID": str(self.owner.pid)}
        if self.on_hosts(*self.up).returncode:
            raise Unavailable("no network namespaces")

    def on_hosts(self, *words):
        return subprocess.run([NAMESPACES, *words], env={**os.environ, **self.environment}, check=False,
                              stderr=subprocess.DEVNULL)

    def shape(self, verb, *words):
        for number in (1, 2):
            subprocess.run(["tc", "-n", f"ddp{self.owner.pid}-{number}", "qdisc", verb, "dev", "eth0", "root", *words], check=True)

    def clean(self):
        if self.job:
            darknet.end_group(self.job)
        if self.owner:
            self.on_hosts("down")
            self.owner.kill()
            self.owner.wait()
        super().clean()


class CableShort(TwoHosts):
    """TCP may need as long again to notice that the cable is back."""
    starts = ("-ddp_timeout", "20", "-ddp_io_timeout", "20")
    goes_on = True

    def inject(self):
        self.on_hosts("link", "2", "down")
        time.sleep(3)
        self.on_hosts("link", "2", "up")


class CableOut(TwoHosts):
    says = r"nothing has moved for \d+ s, and the run ends; the others wait for rank 1 on ddp\d+-2"

    def inject(self):
        self.on_hosts("link", "2", "down")

    def mend(self):
        self.on_hosts("link", "2", "up")


class LinkSlow(TwoHosts):
    goes_on = True

    def inject(self):
        self.shape("replace", "tbf", "rate", "64kbit", "burst", "4k", "latency", "400ms")
        time.sleep(2 * TIMEOUT_S)
        self.shape("del")


class LinkCrawls(TwoHosts):
    """A packet of 1,500 bytes takes 12 s."""

    says = r"nothing has moved for \d+ s, and the run ends; the others wait for rank [01] on ddp\d+-[12]"

    def inject(self):
        self.shape("replace", "tbf", "rate", "1kbit", "burst", "1600", "latency", "400ms")

    def mend(self):
        self.shape("del")


class HostLeftOut(CableOut):
    """The job goes on by itself, on the other host."""

    before = (NAMESPACES, "on", "1")
    starts = ("-ddp_hosts", "hosts", "-ddp_max_restarts", "1")
    goes_on = True
    recovers = r"restart 1 of 1, 1 rank, from the last checkpoint"
    numbers = (1, 2)

    def prepare(self):
        super().prepare()
        self.environment.update(ON_HOSTS)
        self.data.write("hosts", "".join(f"10.77.0.{number} slots=1\n" for number in self.numbers))


class HostKilled(CableOut):
    """All of it at once: no process, and no kernel, says a last word."""

    def inject(self):
        self.on_hosts("kill", "2")


class HostKilledLeftOut(HostLeftOut):
    def inject(self):
        self.on_hosts("kill", "2")


class HostOfRank0Killed(HostKilledLeftOut):
    """The job was started on a third host."""

    up = ("up", "", "3")
    numbers = (2, 3)
    says = r"rank 0 on ddp\d+-2 has not been heard for \d+ s"
