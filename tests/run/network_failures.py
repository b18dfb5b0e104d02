#!/usr/bin/env python3
# ddp-test: usual
"""What a run says and does where the network between its ranks fails, on two hosts made of network namespaces (skipped where
these cannot be made): a firewall, a cable that is pulled, a link that is slow; and on one host, where ranks need no port."""
import os
import re
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "python"))
import darknet  # noqa: E402

NAMESPACES = os.path.join(here, "..", "hosts", "namespaces.sh")
ESTABLISHED, LISTENS = "01", "0A"  # of proc(5)
LOOPBACK = "0100007F:"  # there rank 0's watch listens until all have come


def sockets(pid, state):
    """Addresses of both ends of a process's TCP sockets in a state, as the kernel writes them."""
    inodes, found = set(), []
    for name in os.listdir(f"/proc/{pid}/fd"):
        try:
            inodes |= set(re.findall(r"socket:\[(\d+)\]", os.readlink(f"/proc/{pid}/fd/{name}")))
        except OSError:
            continue
    for table in ("tcp", "tcp6"):
        with open(f"/proc/{pid}/net/{table}", encoding="ascii") as f:
            rows = [line.split() for line in f][1:]
        found += [row[1:3] for row in rows if row[3] == state and row[9] in inodes]
    return found


def host_of(address):
    return address.rpartition(":")[0]


def port(address):
    return int(address.rpartition(":")[2], 16)


class Network(darknet.Case):
    def setUp(self):
        super().setUp()
        self.data = darknet.DataSet(self.folder)
        self.data.boxes()
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=10000000))

    def start(self, *words, before=(), environment=None):
        with open(self.path("said"), "w", encoding="utf-8") as said:
            job = darknet.start([*before, *words], self.folder, environment, stdout=said, stderr=subprocess.STDOUT)
        self.addCleanup(darknet.end_group, job)
        return job

    def said(self):
        with open(self.path("said"), encoding="utf-8", errors="replace") as f:
            return f.read()

    def wait_for(self, pattern, job):
        self.until(lambda: re.search(pattern, self.said()), lambda: f"no {pattern}: {self.said()}", job)


TRAIN = (darknet.PROGRAM, "detector", "train", "train.data", "tiny.cfg", "-ddp", "-threads", "1")


class OneHost(Network):
    def listening(self, pid):
        """Addresses other than the loopback's that a process listens at over TCP, as the kernel writes them."""
        return [here for here, _ in sockets(pid, LISTENS) if not here.startswith(LOOPBACK)]

    def test_ranks_of_one_host_listen_nowhere(self):
        job = self.start("mpirun", "-np", "2", *TRAIN)
        self.wait_for(r"(?m)^2: ", job)
        ranks = darknet.ranks_under(job.pid)
        self.assertEqual(len(ranks), 2)
        for pid in ranks:
            self.assertEqual(self.listening(pid), [])

    def test_mpirun_listens_in_the_range_alone(self):
        job = self.start(*TRAIN, "-ddp_ranks", "2")
        self.wait_for(r"(?m)^2: ", job)
        with open(f"/proc/{job.pid}/task/{job.pid}/children", encoding="ascii") as f:
            mpirun, = f.read().split()
        found = self.listening(mpirun)
        self.assertTrue(found)
        for address in found:
            self.assertIn(port(address), range(46000, 47000))

    def test_a_rank_that_is_none(self):
        job = self.start("mpirun", "-np", "1", *TRAIN, "-ddp_timeout", "3", "-ddp_io_timeout", "3", ":", "-np", "1", "sleep", "600")
        self.assertNotEqual(job.wait(darknet.LIMIT_S), 0)
        self.assertRegex(self.said(), r"the ranks have not come together for \d+ s, and the run ends; rank 1 on this host is no "
                                      r"darknet: \S*/\w+")


class TwoHosts(Network):
    def setUp(self):
        super().setUp()
        owner = subprocess.Popen(["sleep", "600"])  # the hosts are its own
        self.addCleanup(owner.wait)
        self.addCleanup(owner.kill)
        self.hosts = {"DDP_HOSTS_ID": str(owner.pid)}
        made = self.on_hosts("up")
        if made.returncode == 77:
            self.skipTest("no network namespaces")
        self.addCleanup(self.on_hosts, "down")
        self.assertEqual(made.returncode, 0)

    def on_hosts(self, *words):
        return subprocess.run([NAMESPACES, *words], env={**os.environ, **self.hosts}, check=False)

    def host(self, number):
        return f"ddp{self.hosts['DDP_HOSTS_ID']}-{number}"

    def begin(self, *words, cfg=None, options=()):
        if cfg:
            self.write("tiny.cfg", cfg)
        return self.start(*words, *TRAIN, *options, before=(NAMESPACES, "mpirun"), environment=self.hosts)

    def test_a_firewall(self):
        """Ports that are dropped, not refused: silence."""
        for number in (1, 2):
            for rule in (("del", "pref", "0"), ("add", "pref", "10", "lookup", "local"),
                         ("add", "pref", "5", "iif", "eth0", "ipproto", "tcp", "dport", "46000-46127", "blackhole")):
                done = subprocess.run(["ip", "-n", self.host(number), "rule", *rule], check=False)
                if done.returncode:
                    self.skipTest("no rules for ports here")
        job = self.begin("--mca", "btl_tcp_port_min_v4", "46000", "--mca", "btl_tcp_port_range_v4", "64")
        self.assertNotEqual(job.wait(darknet.LIMIT_S), 0)
        self.assertRegex(self.said(), rf"no first message from rank [01] \(host {self.host('[12]')}\) for 20 s: between hosts MPI "
                                      r"uses TCP ports 46000 to 46063, which must be open")

    def test_connections_between_hosts_are_in_the_range(self):
        """Of MPI, and of rank 0's watch: a firewall may let these ports pass alone."""
        job = self.begin("--mca", "btl_tcp_port_min_v4", "46000", "--mca", "btl_tcp_port_range_v4", "64")
        self.wait_for(r"(?m)^2: ", job)
        connections = []

        def both_have_connected():
            connections[:] = [[ends for ends in sockets(pid, ESTABLISHED) if host_of(ends[0]) != host_of(ends[1])]
                              for pid in darknet.ranks_under(job.pid)]
            return connections and all(len(of_rank) == 2 for of_rank in connections)

        self.until(both_have_connected, lambda: f"connections: {connections}", job)
        for of_rank in connections:
            for ends in of_rank:
                self.assertTrue(any(port(end) in range(46000, 46064) for end in ends), ends)

    def test_a_cable_that_is_pulled(self):
        """Open MPI alone would wait 484 s and more for the other host."""
        job = self.begin(options=("-ddp_timeout", "4"))
        self.wait_for(r"(?m)^2: ", job)
        self.on_hosts("link", "2", "down")
        self.assertNotEqual(job.wait(darknet.LIMIT_S), 0)  # less than half of that
        self.assertRegex(self.said(), rf"nothing has moved for \d+ s, and the run ends; the others wait for rank 1 on {self.host(2)}")
        self.assertEqual(self.left_on(2, darknet.LIMIT_S), "")

    def left_on(self, number, limit_s):
        """Names of the processes on a host that are still there after so many seconds."""
        until = time.monotonic() + limit_s
        while True:
            pids = subprocess.run(["ip", "netns", "pids", self.host(number)], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
            left = "".join(darknet.command_line(pid) + "\n" for pid in pids)
            if not left or time.monotonic() > until:
                return left
            time.sleep(.2)

    def test_hosts_without_ipv4(self):
        """Gloo and the watch take IPv6 then."""
        if not darknet.has_gloo():
            self.skipTest("this build has no Gloo")
        for number in (1, 2):
            for words in (("flush", "dev", "eth0", "scope", "global"), ("add", f"fd00:77::{number}/64", "dev", "eth0", "nodad")):
                if subprocess.run(["ip", "-n", self.host(number), "addr", *words], check=False).returncode:
                    self.skipTest("no IPv6 here")
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=2))
        launch = [["env", f"DDP_HOSTS_ID={self.hosts['DDP_HOSTS_ID']}", NAMESPACES, "on", number] for number in "12"]
        for result in map(darknet.ended, darknet.by_hand(TRAIN[1:], self.folder, 2, launch)):
            self.assertEqual(result.code, 0, result)
            self.assertNotIn("cannot", result.err, result)

    def test_a_link_that_is_slow(self):
        """A bucket takes longer than the timeout, and none of its chunks does."""
        cfg = darknet.classifier_cfg(body=darknet.BODY + darknet.section("connected", output=3000, activation="linear")
                                     + darknet.section("connected", output=2, activation="linear"), max_batches=2)
        self.write("tiny.cfg", cfg.replace(darknet.convolutional(2, size=1, activation="linear") + darknet.section("avgpool"), ""))
        words = [w.replace("detector", "classifier") if w == "detector" else w for w in TRAIN]
        for number in (1, 2):
            shaped = subprocess.run(["tc", "-n", self.host(number), "qdisc", "replace", "dev", "eth0", "root", "tbf", "rate", "4mbit",
                                     "burst", "64k", "latency", "400ms"], check=False)
            if shaped.returncode:
                self.skipTest("tc cannot shape the link")
        job = self.start(*words, "-ddp_timeout", "4", "-ddp_bucket_mb", "25", "-ddp_first_bucket_mb", "25", "-ddp_defer_mb", "0",
                         before=(NAMESPACES, "mpirun"), environment=self.hosts)
        began = time.monotonic()
        self.assertEqual(job.wait(darknet.LIMIT_S), 0, self.said())
        self.assertGreater(time.monotonic() - began, 4)
        self.assertIn("in 1 bucket", self.said())


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    darknet.main()


if __name__ == "__main__":
    main()
