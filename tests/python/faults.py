"""Faults that scripts/faults provokes in a small run: what each does to it, what the job has to say of it, and how it is mended.
FAULTS, at the end, lists them."""
import glob
import os
import re
import shutil
import signal
import subprocess
import time

import darknet
from trial import START_S, TRAIN, Failed, Trial, Unavailable

HERE = os.path.dirname(os.path.abspath(__file__))
NAMESPACES = os.path.join(HERE, "..", "hosts", "namespaces.sh")
ON_HOSTS = {"OMPI_MCA_plm_rsh_agent": NAMESPACES + " rsh", "OMPI_MCA_btl": "tcp,self",
            "OMPI_MCA_btl_tcp_if_include": "10.77.0.0/24", "OMPI_MCA_oob_tcp_if_include": "10.77.0.0/24"}


# ---- processes ----


class Killed(Trial):
    number = signal.SIGKILL
    named = (r"rank 0 on \S+ was ended by signal 9 \(Killed\)", r"rank 1 on \S+ was ended by signal 9 \(Killed\)")  # by rank

    def inject(self):
        rank = self.draw.randrange(2)
        self.says = self.named[rank]
        os.kill(self.ranks()[rank], self.number)


class Crashed(Killed):
    number = signal.SIGSEGV
    named = (r"rank 0 on \S+ was ended by signal 11", r"rank 1 on \S+ was ended by signal 11")


class Stopped(Killed):
    number = signal.SIGSTOP
    named = (r"rank 0 on \S+ has not been heard for", r"wait for rank 1 on \S+, which is not heard any more")


class LeavesEarly(Trial):
    says = r"rank 1 on \S+ has ended, or its connection has"
    batches = 10000  # the others go on for a moment

    def prepare(self):
        self.preload("exit", FAULT_RANK="1")

    def inject(self):
        self.data.write("now", "")

    def mend(self):
        self.environment = {}


class OutOfMemory(Trial):
    """In a control group with less memory than a rank of it takes in the end: the kernel ends that rank."""

    named = r"rank %d on \S+ was ended by signal 9 \(Killed\); it had had 0\.[1-9]\d GB of memory, and the kernel has ended a process here for"
    batches = 10000  # it takes a second to come to the limit
    limit = 400 << 20
    group = None

    def prepare(self):
        rank = self.draw.randrange(2)
        self.says = self.named % rank
        self.preload("leak", FAULT_RANK=str(rank))
        for root, limit in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
            group = os.path.join(root, os.path.basename(self.folder))
            try:
                os.mkdir(group)
            except OSError:
                continue
            self.group = group
            if os.path.exists(os.path.join(group, limit)):
                with open(os.path.join(group, limit), "w", encoding="ascii") as f:
                    f.write(str(self.limit))
                self.before = ("sh", "-c", 'echo 0 > "$0" && exec "$@"', os.path.join(group, "cgroup.procs"))
                return
            os.rmdir(group)
            self.group = None
        raise Unavailable("no control group of memory can be made")

    def inject(self):
        self.data.write("now", "")

    def mend(self):
        self.environment = {}

    def clean(self):
        super().clean()
        for _ in range(100):
            try:
                if self.group:
                    os.rmdir(self.group)
                return
            except OSError:  # what was killed there is not quite gone
                time.sleep(.1)


class MpirunKilled(Trial):
    says = r"mpirun was ended by signal 9"

    def inject(self):
        os.kill(self.below(self.job.pid)[0], signal.SIGKILL)


class Clock(Trial):
    """Set back an hour, for this job alone."""

    goes_on = True

    def prepare(self):
        self.preload("clock")

    def inject(self):
        self.data.write("now", "")


class OutputClosed(Trial):
    goes_on = True

    def start(self):
        self.job = darknet.start([*TRAIN, *self.starts], self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def wait_for_step(self):
        for line in self.job.stdout:
            if line.startswith(f"{self.step}: "):
                return
        raise Failed(f"ended before step {self.step}")

    def said(self):
        return ""

    def inject(self):
        self.job.stdout.close()


# ---- data ----


class Fifo(Trial):
    named = (r"nothing has moved for \d+ s, and the run ends; the others wait for rank ([01]) on \S+: step \d+[^\n]*loader"
             r".*rank \1 @ \S+\]: a loader has been at %s, or its labels, for \d+ s")
    bad = None

    def inject(self):
        self.bad = self.picture()
        self.says = self.named % re.escape(os.path.relpath(self.bad, self.folder))
        os.link(self.bad, self.path("away"))
        os.mkfifo(self.path("fifo"))
        os.replace(self.path("fifo"), self.bad)

    def mend(self):
        os.replace(self.path("away"), self.bad)


class PictureGone(Trial):
    says = r"images/\w+\.png"
    bad = None

    def inject(self):
        self.bad = self.picture()
        os.rename(self.bad, self.path("away"))

    def mend(self):
        os.replace(self.path("away"), self.bad)


class PictureCut(PictureGone):
    def inject(self):
        self.bad = self.picture()
        shutil.copy(self.bad, self.path("away"))
        shutil.copy(self.bad, self.path("cut"))
        os.truncate(self.path("cut"), 40)
        os.replace(self.path("cut"), self.bad)


class LabelBad(PictureGone):
    says = r"labels/\w+\.txt"

    def inject(self):
        self.bad = self.picture().replace("images", "labels").replace(".png", ".txt")
        shutil.copy(self.bad, self.path("away"))
        with open(self.path("bad"), "w", encoding="ascii") as f:
            f.write(self.draw.choice(["0 nan 0.5 0.1 0.1\n", "0 0.5 0.5 -0.2 0.1\n", "7 0.5 0.5 0.2 0.1\n", "cat\n"]))
        os.replace(self.path("bad"), self.bad)


# ---- disks ----


def fill(path):
    with open(path, "wb", buffering=0) as f:
        try:
            while True:
                f.write(bytes(512))
        except OSError:
            pass


class Disk(Trial):
    """The backup folder is a file system of its own."""

    def prepare(self):
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", self.path("backup")], check=False)
        if done.returncode:
            raise Unavailable("no tmpfs can be mounted")

    def clean(self):
        if self.job:
            darknet.end_group(self.job)
        subprocess.run(["umount", "-l", self.path("backup")], check=False, stderr=subprocess.DEVNULL)
        super().clean()


class DiskFull(Disk):
    says = r"backup/tiny\S*: No space left on device"

    def inject(self):
        fill(self.path("backup/filler"))

    def mend(self):
        os.remove(self.path("backup/filler"))


class DiskFullForAWhile(Disk):
    """Until the CSV file was to grow, and could not."""

    starts = ("-ddp_ranks", "2", "-ddp_on_save_error", "continue")
    goes_on = True
    batches = 10000
    says = r"cannot write backup/tiny\.csv: No space left on device.*the run is not ended for it"

    def inject(self):
        fill(self.path("backup/filler"))
        while not re.search(self.says, self.said(), re.DOTALL) and self.job.poll() is None:
            time.sleep(.05)
        os.remove(self.path("backup/filler"))


class DiskReadOnly(Disk):
    """For new files: what is open for writing stays so."""

    says = r"backup/tiny\S*.*: Read-only file system"

    def inject(self):
        subprocess.run(["mount", "--bind", self.path("backup"), self.path("backup")], check=True)
        subprocess.run(["mount", "-o", "remount,bind,ro", self.path("backup")], check=True)

    def mend(self):
        subprocess.run(["umount", self.path("backup")], check=True)

    def clean(self):
        if self.job:
            darknet.end_group(self.job)
        subprocess.run(["umount", "-l", self.path("backup")], check=False, stderr=subprocess.DEVNULL)  # the two are one above the other
        super().clean()


class FolderGone(Trial):
    says = r"backup/\S*.*: No such file or directory"

    def inject(self):
        os.rename(self.path("backup"), self.path("moved"))

    def mend(self):
        os.rename(self.path("moved"), self.path("backup"))


# ---- numbers ----


class Memory(Trial):
    """The weights of rank 1's layer 2, in its memory."""

    still = True

    def pattern(self):
        for name in sorted(os.listdir(self.path("backup"))):
            if name.endswith((".weights", ".backup")):
                with open(self.path("backup/" + name), "rb") as f:
                    return f.read()[20 + 4 * (4 * 4 + 4 * 3 * 9) + 4 * 16:][:64]
        raise Failed("no weights file at step " + str(self.reached()))

    def write_over(self, word):
        pid, pattern = self.ranks()[1], self.pattern()
        found = 0
        with open(f"/proc/{pid}/maps", encoding="ascii", errors="replace") as f:
            spans = [line.split() for line in f]
        with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
            for span, rights, *rest in spans:
                start, end = (int(at, 16) for at in span.split("-"))
                if not rights.startswith("rw") or rest[-1].startswith("/dev"):
                    continue
                try:
                    memory.seek(start)
                    at = (memory.read(end - start) or b"").find(pattern)
                except OSError:
                    continue
                if at >= 0:
                    memory.seek(start + at)
                    memory.write(word(pattern[:4]))
                    found += 1
        if not found:
            raise Failed("the weights were not found in memory")


class FlippedBit(Memory):
    says = r"layer 2 \(convolutional\) weights of .* no longer have the bits of"

    def inject(self):
        self.write_over(lambda word: bytes([word[0] ^ 1]) + word[1:])


class NotANumber(Memory):
    says = r"not finite; first the \w+ of layer \d \(\w+\) of rank 1|layer 2 \(convolutional\) weights"

    def inject(self):
        self.write_over(lambda word: b"\x00\x00\xc0\x7f")


# ---- ranks that are not alike: the run is stopped, and goes on with a rank 1 that has other files, words or another program ----


class Differs(Trial):
    says = r"rank 1 on \S+ differs from rank 0 on \S+: it has '.*', not '"
    words = ("-resume",)
    only = ()                  # what rank 1 alone is told
    program = darknet.PROGRAM  # rank 1's

    def change(self, path):
        """What path names is rank 1's."""

    def inject(self):
        self.job.send_signal(signal.SIGTERM)
        if self.job.wait(START_S) != 0:
            raise Failed("SIGTERM: " + self.said()[-3000:])
        other = self.path("other")
        shutil.copytree(self.folder, other, ignore=shutil.ignore_patterns("said"))
        self.change(lambda name: os.path.join(other, name))
        self.began = time.monotonic()
        self.begin("mpirun", "-np", "1", *TRAIN, *self.words, ":", "-np", "1", "--wdir", other, self.program, *TRAIN[1:], *self.words,
                   *self.only)


class OtherCfg(Differs):
    says = r"rank 1 on \S+ differs from rank 0 on \S+: it has 'learning_rate 0\.5.*', not '"

    def change(self, path):
        with open(path("tiny.cfg"), encoding="ascii") as f:
            text = f.read()
        with open(path("tiny.cfg"), "w", encoding="ascii") as f:
            f.write(text.replace("learning_rate=0.001", "learning_rate=0.5"))


class OtherList(Differs):
    says = r"rank 1 on \S+ differs from rank 0 on \S+: it has '8 images listed, hash \w+', not '"

    def change(self, path):
        pictures = self.data.pictures[:]
        self.draw.shuffle(pictures)
        darknet.write(path("train.list"), "".join(p + "\n" for p in [pictures[-1], *pictures[1:]]))


class OtherLabel(Differs):
    says = r"rank 1 on \S+ differs from rank 0 on \S+: it has 'labels/\w+\.txt: contents "

    def change(self, path):
        darknet.write(path(self.data.label(self.draw.choice(self.data.pictures))), "1 .5 .5 .25 .25\n")


class OtherWeights(Differs):
    """A run that begins with a weights file, of which rank 1 has another."""

    says = r"rank 1 on \S+ differs from rank 0 on \S+: it has 'first weights: contents "
    words = ("first.weights", "-clear")

    def change(self, path):
        weights = sorted(glob.glob(self.path("backup/*.weights")), key=os.path.getmtime)[0]
        for name in (self.path("first.weights"), path("first.weights")):
            shutil.copy(weights, name)
        with open(path("first.weights"), "r+b") as f:
            f.seek(-4 * self.draw.randint(1, 50), os.SEEK_END)
            f.write(b"\0\0\0\0")


class OtherOption(Differs):
    says = r"rank 1 on \S+ differs from rank 0 on \S+: it has '.*ddp_verify_every.* 21\b.*', not '"
    only = ("-ddp_verify_every", "21")


class OtherBuild(Differs):
    """The same program, but for a digit of the checksum of the source that it was built from."""

    says = r"rank 1 on \S+ differs from rank 0 on \S+: it has '(darknet-ddp \S+ source|Darknet's source with its patches)"

    def change(self, path):
        with open(darknet.PROGRAM, "rb") as f:
            program = f.read()
        sums = [m.start(1) for m in re.finditer(rb"\0([0-9a-f]{16})\0", program) if m[1] != b"0123456789abcdef"]
        at = self.draw.choice(sums)
        self.program = path("darknet")
        with open(self.program, "wb") as f:
            f.write(program[:at] + (b"1" if program[at:at + 1] == b"0" else b"0") + program[at + 1:])
        os.chmod(self.program, 0o755)


class OtherProcessor(Differs):
    """As far as oneDNN is told: its sums have other last bits there."""

    says = r"rank 1 on \S+ differs from rank 0 on \S+: it has 'computes on CPU; .* oneDNN's choice \d+', not '"

    def change(self, path):
        self.program = path("older")
        darknet.write(self.program, f'#!/bin/sh\nDNNL_MAX_CPU_ISA=SSE41 exec {darknet.PROGRAM} "$@"\n')
        os.chmod(self.program, 0o755)


# ---- two hosts ----


class TwoHosts(Trial):
    before = (NAMESPACES, "mpirun")
    starts = ()
    owner = None

    def prepare(self):
        self.owner = subprocess.Popen(["sleep", "3600"])  # the hosts are its own
        self.environment = {"DDP_HOSTS_ID": str(self.owner.pid)}
        if self.on_hosts("up").returncode:
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
        time.sleep(6)  # twice the timeout
        self.shape("del")


class LinkCrawls(TwoHosts):
    """A packet of 1,500 bytes takes 12 s."""

    says = r"nothing has moved for \d+ s, and the run ends; the others wait for rank [01] on ddp\d+-[12]"

    def inject(self):
        self.shape("replace", "tbf", "rate", "1kbit", "burst", "1600", "latency", "400ms")

    def mend(self):
        self.shape("del")


# ---- by themselves ----


def restarted(fault):
    """The same with -ddp_max_restarts: the job goes on by itself."""

    class Restarted(fault):
        starts = ("-ddp_ranks", "2", "-ddp_max_restarts", "1")
        goes_on = True
        recovers = r"restart 1 of 1, 2 ranks, from the last checkpoint"

    return Restarted


class HostLeftOut(CableOut):
    before = (NAMESPACES, "on", "1")
    starts = ("-ddp_hosts", "hosts", "-ddp_max_restarts", "1")
    goes_on = True
    recovers = r"restart 1 of 1, 1 rank, from the last checkpoint"

    def prepare(self):
        super().prepare()
        self.environment.update(ON_HOSTS)
        self.data.write("hosts", "10.77.0.1 slots=1\n10.77.0.2 slots=1\n")


# In the order of the table.
FAULTS = {
    "SIGKILL of a rank": Killed, "SIGSEGV of a rank": Crashed, "SIGSTOP of a rank": Stopped, "exit(0) of a rank": LeavesEarly,
    "a rank out of memory": OutOfMemory, "mpirun killed": MpirunKilled,
    "cable out for 3 s, 2 hosts": CableShort, "cable out for ever, 2 hosts": CableOut,
    "link of 64 kbit/s for 6 s, 2 hosts": LinkSlow, "link of 1 kbit/s for ever, 2 hosts": LinkCrawls,
    "a rank with another cfg": OtherCfg, "a rank with another list": OtherList, "a rank with another label file": OtherLabel,
    "a rank with other weights": OtherWeights, "a rank with another option": OtherOption, "a rank of another build": OtherBuild,
    "a rank on another processor": OtherProcessor,
    "loader on a FIFO": Fifo, "picture deleted": PictureGone, "picture cut off": PictureCut, "label made bad": LabelBad,
    "disk full": DiskFull, "disk full for a while, -ddp_on_save_error continue": DiskFullForAWhile, "disk read-only": DiskReadOnly,
    "backup folder moved away": FolderGone,
    "NaN in a rank's weights": NotANumber, "a flipped bit in a rank's weights": FlippedBit,
    "clock set back an hour": Clock, "output closed": OutputClosed,
    "SIGKILL, -ddp_max_restarts": restarted(Killed), "SIGSEGV, -ddp_max_restarts": restarted(Crashed),
    "SIGSTOP, -ddp_max_restarts": restarted(Stopped), "exit(0), -ddp_max_restarts": restarted(LeavesEarly),
    "out of memory, -ddp_max_restarts": restarted(OutOfMemory), "mpirun killed, -ddp_max_restarts": restarted(MpirunKilled),
    "NaN, -ddp_max_restarts": restarted(NotANumber), "a flipped bit, -ddp_max_restarts": restarted(FlippedBit),
    "cable out for ever, -ddp_max_restarts, 2 hosts": HostLeftOut,
}
