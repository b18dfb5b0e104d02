"""Helpers of scripts/bench.py, bench-inference.py, bench-sums.py, forecast.py and figures.py: hosts made of network namespaces
(tests/hosts; as root), and `darknet ddp bench`, `ddp plan` and PyTorch's training for a network there. Each call is bounded in time and ends what it started."""
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HOSTS = os.path.join(ROOT, "tests", "hosts", "namespaces.sh")
ENVIRONMENT = {**os.environ, "DDP_HOSTS_ID": str(os.getpid()), "OMP_NUM_THREADS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1",
               "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
LIMIT_S = 600
PYTHONS = (sys.executable, "/usr/bin/python3")  # PyTorch from PyPI for the one, from Debian for the other
ON_HOSTS = (HOSTS, "mpirun", "-x", "OMP_NUM_THREADS")
ON_A_CORE = ("sh", "-c", 'exec taskset -c "$OMPI_COMM_WORLD_RANK" "$@"', "sh")  # the rank's own
FIRST_HOST = "10.77.0.1"
ALONE = ("taskset", "-c", "1")  # one process


def run(words, **more):
    """Its standard output. more: of the environment."""
    done = subprocess.run([str(w) for w in words], env={**ENVIRONMENT, **more}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=LIMIT_S, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def has_bf16():
    """Whether this machine's CPU has instructions for bf16."""
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as f:
        return bool({"avx512_bf16", "amx_bf16"} & set(f.read().split()))


@contextlib.contextmanager
def hosts(gbit, count=2):
    """While it lasts there are so many hosts, each on a line of so many Gbit/s. Exits with 77 where they cannot be made."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # through what is to be undone
    code = subprocess.run([HOSTS, "up", f"{int(1000 * gbit)}mbit", str(count)], env=ENVIRONMENT, check=False).returncode
    if code:
        sys.exit(code)
    try:
        yield
    finally:
        subprocess.run([HOSTS, "down"], env=ENVIRONMENT, check=False)


class Darknet:
    """A program and a network, pixels x pixels, so many images a rank."""

    def __init__(self, build, cfg=None, pixels=128, images=4):
        self.program = os.path.join(os.path.abspath(build), "darknet")
        self.cfg = cfg or os.path.join(os.path.abspath(build), "darknet-src", "cfg", "resnet50.cfg")
        self.pixels, self.images = pixels, images

    def words(self, command, ranks):
        return [self.program, "ddp", command, self.cfg, "-w", self.pixels, "-h", self.pixels, "-batch", self.images * ranks,
                "-subdivisions", ranks]

    def profile(self, path):
        """Measures each layer on one core, into a file."""
        run(["taskset", "-c", "0", *self.words("bench", 1), "-steps", 10, "-profile", path])

    def bench(self, *options, steps=4, ranks=2, a_host=1, where=ON_HOSTS, pin=()):
        """The figures of `ddp bench -json`: on ranks of the hosts that there are, or with where=() in this process alone."""
        with tempfile.NamedTemporaryFile(suffix=".json") as f:
            run([*where, *pin, *self.words("bench", ranks), "-steps", steps, "-json", f.name, *options], DDP_HOSTS_SLOTS=str(a_host))
            return json.load(f)

    def predict(self, profile, count, ranks, gbit):
        """Seconds of a step on so many hosts of so many ranks, with and without communication."""
        said = run([*self.words("plan", count * ranks), "-profile", profile, "-np", count * ranks, "-hosts", count, "-net", gbit])
        row = said.splitlines()[-1].split()
        return float(row[4]), float(row[3])


class PyTorch:
    """Training of the same network, layer by layer, by scripts/bench_torch.py."""

    def __init__(self):
        self.python = next((p for p in PYTHONS if not subprocess.run([p, "-c", "import torch"], capture_output=True, check=False).returncode), None)

    def bench(self, network, bf16=False, bucket_mb=25, steps=4, where=ON_HOSTS, pin=()):
        """Seconds of each step of a Darknet's network, one core a rank; None where no Python has PyTorch."""
        if not self.python:
            return None
        build = {"cfg": network.cfg, "width": network.pixels, "height": network.pixels, "batch": network.images, "fp32": True, "bf16": bf16}
        launcher = [*where, "-x", "BENCH_MASTER", "-x", "BENCH_BUCKET_MB", *pin] if where[0] == HOSTS else where
        said = run([*launcher, self.python, os.path.join(ROOT, "scripts", "bench_torch.py"), json.dumps(build), json.dumps({"steps": steps})],
                   BENCH_MASTER=FIRST_HOST, BENCH_BUCKET_MB=str(bucket_mb))
        answer = json.loads(said.splitlines()[-1])
        if "failed" in answer:
            sys.exit(f"PyTorch: {answer['failed']}")
        return answer["seconds"]


def faster(path, out):
    """A profile whose times are a tenth as long, of a device of its own: its layers go on while messages move."""
    with open(path, encoding="ascii") as f, open(out, "w", encoding="ascii") as to:
        for line in f:
            if line[0].isdigit():
                layer, *times = line.split("#")[0].split()
                line = "\t".join([layer, *(f"{float(t) / 10:.7f}" for t in times)]) + "\n"
            to.write(re.sub("^device\tcpu", "device\tgpu", line))
