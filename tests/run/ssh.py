#!/usr/bin/env python3
# ddp-test: ci
"""-ddp_hosts over real ssh: two hosts made of network namespaces, an sshd of its own on the second, with keys that are made for it. It
trains, saves and ends as on one host; a host that ssh hangs at, refuses or does not know is named; one that dies is left out. As root;
skipped where namespaces cannot be made or Debian's openssh-server is missing."""
import os
import re
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
os.environ["DDP_HOSTS_ID"] = str(os.getpid())
here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "python"))
import darknet  # noqa: E402
from namespaces import NAMESPACES  # noqa: E402

SSHD = "/usr/sbin/sshd"
PORT = "2222"
AWAY = "10.77.0.2"
TRAIN = ("detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_seed", "7", "-ddp_exact", "-threads", "1")
HOSTS = ("-ddp_hosts", f"10.77.0.1:1,{AWAY}:1")


class Ssh(darknet.Case):
    def setUp(self):
        super().setUp()
        darknet.DataSet(self.folder).boxes()
        self.write("tiny.cfg", darknet.detector_cfg(batch=8, subdivisions=8, max_batches=10000000))
        for name in ("host_key", "user_key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.path(name)], check=True)
        shutil.copy(self.path("user_key.pub"), self.path("authorized"))
        with open(self.path("host_key.pub"), encoding="ascii") as f:
            self.write("known", f"[{AWAY}]:{PORT} {f.read()}")
        self.write("sshd_config", f"Port {PORT}\nHostKey {self.path('host_key')}\nAuthorizedKeysFile {self.path('authorized')}\n"
                                  "StrictModes no\nUsePAM no\nPermitRootLogin yes\nPasswordAuthentication no\nPidFile none\n")
        self.write("ssh_config", f"Port {PORT}\nIdentityFile {self.path('user_key')}\nIdentitiesOnly yes\n"
                                 f"UserKnownHostsFile {self.path('known')}\nGlobalKnownHostsFile /dev/null\n")
        self.write("bin/ssh", f'#!/bin/sh\nexec {shutil.which("ssh")} -F {self.path("ssh_config")} "$@"\n')
        os.chmod(self.path("bin/ssh"), 0o755)
        with open(self.path("sshd_said"), "w", encoding="utf-8") as said:
            sshd = subprocess.Popen([NAMESPACES, "on", "2", SSHD, "-D", "-e", "-f", self.path("sshd_config")], stderr=said)
        self.addCleanup(sshd.wait)
        self.addCleanup(self.revive)
        self.until(lambda: "Server listening" in self.sshd_said(), self.sshd_said)

    def sshd_said(self):
        with open(self.path("sshd_said"), encoding="utf-8", errors="replace") as f:
            return f.read()

    def revive(self):
        """The next test finds two hosts, on which nothing runs."""
        for pid in self.processes():
            os.kill(int(pid), signal.SIGKILL)
        subprocess.run([NAMESPACES, "link", "2", "up"], check=True)

    def processes(self, word=""):
        """Of the second host, those with that word in their command lines."""
        found = subprocess.run(["ip", "netns", "pids", f"ddp{os.getpid()}-2"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
        return [pid for pid in found if word in darknet.command_line(pid)]

    def begin(self, *words):
        environment = {"PATH": self.path("bin") + ":" + os.environ["PATH"]}
        with open(self.path("said"), "w", encoding="utf-8") as said:
            job = darknet.start([NAMESPACES, "on", "1", darknet.PROGRAM, *TRAIN, *HOSTS, *words], self.folder, environment, stdout=said,
                                stderr=subprocess.STDOUT)
        self.addCleanup(darknet.end_group, job)
        return job

    def ends(self, job, *patterns, none_left=True):
        """Badly, and says so; what ran on the other host ends, too."""
        began = time.monotonic()
        self.assertNotEqual(job.wait(darknet.LIMIT_S), 0, self.said())
        for pattern in patterns:
            self.assertRegex(self.said(), pattern)
        if none_left:
            self.until(lambda: not self.processes(darknet.PROGRAM), self.said)
        return time.monotonic() - began

    def test_it_trains_and_a_signal_saves_and_ends_it(self):
        job = self.begin()
        self.wait_for("tiny_100.weights.state", job)
        job.send_signal(signal.SIGTERM)
        self.assertEqual(job.wait(darknet.LIMIT_S), 0, self.said())
        self.assertRegex(self.said(), rf"DDP: 2 ranks on 2 hosts \(ddp{os.getpid()}-1 ddp{os.getpid()}-2\)")
        self.assertIn("goes on from backup/tiny.backup\n", self.said())
        self.until(lambda: not self.processes(darknet.PROGRAM), self.said)
        with open(self.path("backup/tiny_100.weights"), "rb") as f:
            found = f.read()
        shutil.rmtree(self.path("backup"))
        os.mkdir(self.path("backup"))
        self.write("tiny.cfg", darknet.detector_cfg(batch=8, subdivisions=8, max_batches=100))
        self.succeeds(*TRAIN)
        with open(self.path("backup/tiny_final.weights"), "rb") as f:
            self.same_weights(found, f.read())

    def test_the_starter_killed(self):
        """Nothing of it stays, here or there."""
        job = self.begin()
        self.wait_for("tiny_100.weights.state", job)
        os.kill(job.pid, signal.SIGKILL)
        self.until(lambda: not self.processes(darknet.PROGRAM) and not self.processes("orted"), self.said)

    def test_a_host_that_ssh_hangs_at(self):
        """sshd is stopped: its kernel takes the connection, and nobody answers."""
        for pid in self.processes():
            os.kill(int(pid), signal.SIGSTOP)
        job = self.begin("-ddp_io_timeout", "6")
        took = self.ends(job, rf"no rank runs after 3 s; ssh has not come back from {re.escape(AWAY)}: is it up",
                         rf"no rank runs after [67] s, and the job ends; ssh has not come back from {re.escape(AWAY)}", none_left=False)
        self.assertLess(took, 60)
        self.assertNotIn("none has said why", self.said())

    def test_a_key_that_is_refused(self):
        self.write("authorized", "")
        self.ends(self.begin(), rf"no rank can be started on host {re.escape(AWAY)}: .*Permission denied \(publickey.*\)\.\n")
        self.assertNotIn("\\x0d", self.said())

    def test_a_host_that_is_not_known(self):
        self.write("known", "")
        self.ends(self.begin(), rf"no rank can be started on host {re.escape(AWAY)}: Host key verification failed\.\n")

    def test_a_session_that_breaks_off(self):
        """Open MPI's daemon lives in it, and mpirun ends the job by SIGTERM, at which ranks save: nobody wished it all the same."""
        job = self.begin()
        self.wait_for("tiny_100.weights.state", job)
        for pid in self.processes("@notty"):
            os.kill(int(pid), signal.SIGKILL)
        said = rf"Connection to {re.escape(AWAY)} closed by remote host"
        self.ends(job, rf"the ranks have ended .*: {said}" if darknet.open_mpi() < 5 else rf"{said}.*\n.*mpirun has lost its daemon on host ",
                  r"-resume` goes on from (the last checkpoint|backup/tiny\.backup)")

    def test_a_session_that_breaks_off_is_a_reason_to_restart(self):
        job = self.begin("-ddp_max_restarts", "1")
        self.wait_for("tiny_100.weights.state", job)
        for pid in self.processes("@notty"):
            os.kill(int(pid), signal.SIGKILL)
        self.until(lambda: re.search(r"restart 1 of 1, 2 ranks, from the last checkpoint\n.*\n\d{3,}: ", self.said(), re.DOTALL), self.said, job)
        job.send_signal(signal.SIGTERM)
        self.assertEqual(job.wait(darknet.LIMIT_S), 0, self.said())

    def test_a_host_that_dies(self):
        """With all that runs on it: no word comes from there any more, and ssh hears none."""
        job = self.begin("-ddp_timeout", "4", "-ddp_max_restarts", "1")
        self.wait_for("tiny_100.weights.state", job)
        subprocess.run([NAMESPACES, "kill", "2"], check=True)
        self.until(lambda: re.search(r"restart 1 of 1, 1 rank, from the last checkpoint\n.*\n\d{3,}: ", self.said(), re.DOTALL), self.said, job)
        self.assertIn(f"darknet: host {AWAY} does not answer, and is left out\n", self.said())
        self.assertRegex(self.said(), rf"and the run ends; the others wait for rank 1 on ddp{os.getpid()}-2, which is not heard any more")
        job.send_signal(signal.SIGTERM)
        self.assertEqual(job.wait(darknet.LIMIT_S), 0, self.said())

    def test_a_host_that_dies_before_its_watch_says_so(self):
        """-ddp_timeout is 300 s, and mpirun misses its daemon after 30 s: it is named all the same."""
        job = self.begin()
        self.wait_for("tiny_100.weights.state", job)
        subprocess.run([NAMESPACES, "kill", "2"], check=True)
        away = re.escape(AWAY) if darknet.open_mpi() < 5 else rf"ddp{os.getpid()}-2"
        took = self.ends(job, rf"darknet: mpirun has lost its daemon on host {away}, and ends the job|rank 1 on {away}, which is not heard any more",
                         "-resume` goes on from the last checkpoint")
        self.assertLess(took, 120)


def main():
    if not os.path.exists(SSHD) or not shutil.which("ssh") or not shutil.which("ssh-keygen"):
        print("no sshd: Debian's packages openssh-server and openssh-client have it", file=sys.stderr)
        sys.exit(77)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    os.makedirs("/run/sshd", exist_ok=True)
    try:
        made = subprocess.run([NAMESPACES, "up"], check=False)
        if made.returncode:
            sys.exit(made.returncode)
        darknet.AT_A_TIME = 1  # they share the two hosts
        darknet.main()
    finally:
        subprocess.run([NAMESPACES, "down"], check=False)


if __name__ == "__main__":
    main()
