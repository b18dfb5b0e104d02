#!/usr/bin/env python3
# ddp-test: ci timeout=900
"""The recipe of an image (packaging/Containerfile): the steps of its second stage run in a chroot over this machine's files, which stay
as they are. There two workers run sshd, each in a network namespace, and mpirun in a third one starts a rank on each, as Kubernetes' MPI
operator has it. And without a network the build configures and compiles, once Darknet's source is in the cache. Skipped without root,
overlayfs or sshd."""
import glob
import json
import os
import shlex
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
os.environ["DDP_HOSTS_ID"] = str(os.getpid())
here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "python"))
import darknet  # noqa: E402

PROJECT = os.path.dirname(os.path.dirname(here))
RECIPE = os.path.join(PROJECT, "darknet-ddp", "packaging", "Containerfile")
NAMESPACES = os.path.join(here, "..", "hosts", "namespaces.sh")
BUILD = os.path.dirname(darknet.PROGRAM)
LIMIT_S = 600
# In mounts and processes of its own, which end with it: $1 the folder, $2 a shell program for the chroot, $3 the environment.
IN_CHROOT = """
root=$1/image
mount -t tmpfs tmpfs "$1/layers"
mkdir "$1/layers/upper" "$1/layers/work"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/layers/upper,workdir=$1/layers/work" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/tmp"
mount -t tmpfs tmpfs "$root/run"
mkdir -p "$root/data" "$root/opt"
mount --bind "$1/data" "$root/data"
for package in "$1"/*.deb; do cp "$package" "$root/opt"; done
for file in /etc/resolv.conf /etc/hosts; do [ ! -r "$file" ] || cp -L "$file" "$root$file" 2>/dev/null || true; done
chroot "$root" env -i HOME=/root PATH=/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin $3 sh -euc "$2" >"$1/steps" 2>&1 || exit 3
rm -rf "$root/root/.ssh"
mkdir -m 700 "$root/root/.ssh"
ssh-keygen -q -t ed25519 -N '' -f "$root/root/.ssh/id_ed25519"
cp "$root/root/.ssh/id_ed25519.pub" "$root/root/.ssh/authorized_keys"
mkdir -p "$root/etc/mpi"
printf '10.77.0.2 slots=1\\n10.77.0.3 slots=1\\n' >"$root/etc/mpi/hostfile"
for worker in 2 3; do
    "$4" on "$worker" chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin $5 2>"$1/sshd$worker" &
done
"$4" on 1 chroot "$root" env -i HOME=/root PATH=/usr/bin:/bin $3 OMPI_MCA_orte_default_hostfile=/etc/mpi/hostfile \\
    PRTE_MCA_prte_default_hostfile=/etc/mpi/hostfile OMPI_MCA_plm_rsh_args='-o ConnectionAttempts=10' \\
    PRTE_MCA_plm_ssh_args='-o ConnectionAttempts=10' sh -c 'cd /data && exec mpirun --bind-to none darknet detector train train.data tiny.cfg -ddp -ddp_seed 7' \\
    >"$1/said" 2>&1
"""


def stages():
    """The stages of the recipe: lists of (word, rest)."""
    with open(RECIPE, encoding="utf-8") as f:
        text = "\n".join(line for line in f.read().split("\n") if not line.startswith("#")).replace("\\\n", "")
    found = []
    for line in filter(None, text.split("\n")):
        word, _, rest = line.partition(" ")
        if word == "FROM":
            found.append([])
        found[-1].append((word, rest))
    return found


class Container(darknet.Case):
    def setUp(self):
        super().setUp()
        if os.getuid() != 0:
            self.skipTest("a chroot wants root")

    def read(self, name):
        try:
            with open(self.path(name), encoding="utf-8", errors="replace") as f:
                return f.read()
        except OSError:
            return ""

    def test_workers_and_a_launcher(self):
        if not os.path.exists("/usr/sbin/sshd"):
            self.skipTest("no sshd")
        up = subprocess.run([NAMESPACES, "up", "", "3"], stderr=subprocess.PIPE, text=True, check=False)
        self.addCleanup(subprocess.run, [NAMESPACES, "down"], check=False)
        if up.returncode:
            self.skipTest(up.stderr)
        for name in ("layers", "image", "data"):
            os.mkdir(self.path(name))
        tried = subprocess.run(["unshare", "-m", "sh", "-euc", "mount -t tmpfs tmpfs layers; mkdir layers/upper layers/work; mount -t overlay overlay "
                                "-o lowerdir=/,upperdir=layers/upper,workdir=layers/work image"], cwd=self.folder, stderr=subprocess.PIPE, text=True, check=False)
        if tried.returncode:
            self.skipTest(f"no overlayfs here: {tried.stderr}")
        made = subprocess.run(["cpack", "-G", "DEB", "--config", os.path.join(BUILD, "CPackConfig.cmake"), "-B", self.folder], cwd=self.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=LIMIT_S)
        self.assertEqual(made.returncode, 0, made.stdout)
        data = darknet.DataSet(self.path("data"))
        data.boxes()
        with open(self.path("data/tiny.cfg"), "w", encoding="ascii") as f:
            f.write(darknet.detector_cfg(max_batches=12))
        _, steps = stages()
        run = "\n".join(rest for word, rest in steps if word == "RUN")
        environment = " ".join(rest for word, rest in steps if word == "ENV")
        command = " ".join(shlex.quote(word) for word in json.loads(next(rest for word, rest in steps if word == "CMD")))
        done = subprocess.run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-euc", IN_CHROOT, "sh", self.folder, run, environment,
                               NAMESPACES, command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=LIMIT_S)
        if done.returncode == 3 and "Could not resolve" in self.read("steps"):
            self.skipTest("no mirror of Debian answers")
        said = "".join(f"\n== {name}\n{self.read(name)[-3000:]}" for name in ("steps", "sshd2", "sshd3", "said"))
        self.assertEqual(done.returncode, 0, done.stdout + said)
        self.assertIn("DDP: 2 ranks on 2 hosts (", self.read("said"), said)
        self.assertTrue(os.path.exists(self.path("data/backup/tiny_final.weights")), said)

    def test_the_build_needs_no_network(self):
        cache = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "darknet-ddp")
        if not glob.glob(cache + "/*.orig.tar.xz"):
            self.skipTest("Darknet's source is not in the cache")
        if not shutil.which("ninja"):
            self.skipTest("no ninja")
        for command in (["cmake", "-S", PROJECT, "-B", self.path("new"), "-G", "Ninja"], ["cmake", "--build", self.path("new"), "--target", "ddp_support"]):
            done = subprocess.run(["unshare", "-n", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=LIMIT_S)
            self.assertEqual(done.returncode, 0, done.stdout[-3000:])


if __name__ == "__main__":
    darknet.main()
