"""Another MPI in Open MPI's place: the same weights, ranks that the program starts through its mpiexec (hydra), their signals, and a
killed one. The program is built beside the other build, which takes some minutes the first time."""
import os
import signal
import subprocess
import sys

import darknet

OPEN_MPI = os.environ["DARKNET"]
SOURCE = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
TRAIN = ("detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_seed", "7", "-threads", "1")


def skip(why):
    print(why, file=sys.stderr)
    sys.exit(77)


def build(name, compiler, mpiexec):
    """In the folder `name`. Where Darknet's source is, the build that is tested knows."""
    folder = os.path.join(os.path.dirname(OPEN_MPI), name)
    with open(os.path.join(os.path.dirname(OPEN_MPI), "CMakeCache.txt"), encoding="utf-8") as f:
        cache = dict(line.rstrip("\n").split("=", 1) for line in f if "=" in line and line[0].isalpha())
    kept = [f"-D{name.split(':')[0]}={value}" for name, value in cache.items()
            if name.split(":")[0] in ("DARKNET_SOURCE_DIR", "DDP_DARKNET_TREE", "CMAKE_C_COMPILER_LAUNCHER",
                                      "CMAKE_CXX_COMPILER_LAUNCHER") and value]
    fetched = os.path.join(os.path.dirname(OPEN_MPI), "darknet-orig")
    if not any("SOURCE_DIR" in word for word in kept) and os.path.isdir(fetched):
        kept.append(f"-DDARKNET_SOURCE_DIR={fetched}")
    for words in (["cmake", "-S", SOURCE, "-B", folder, "-G", "Ninja", f"-DMPI_C_COMPILER={compiler}",
                   f"-DMPIEXEC_EXECUTABLE={mpiexec}", *kept],
                  ["cmake", "--build", folder, "--parallel", "2", "--target", "darknet"]):
        done = subprocess.run(words, check=False, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{words}: {done.stdout[-3000:]}{done.stderr[-3000:]}")
    darknet.PROGRAM = os.path.join(folder, "darknet")


class OtherMpi(darknet.Case):
    mpiexec = None  # what build was given

    def setUp(self):
        super().setUp()
        darknet.DataSet(self.folder).boxes()
        self.cfg(6)

    def cfg(self, steps):
        self.write("tiny.cfg", darknet.detector_cfg(batch=8, subdivisions=8, max_batches=steps))

    def weights(self):
        with open(self.path("backup/tiny_final.weights"), "rb") as f:
            found = f.read()
        for name in os.listdir(self.path("backup")):
            os.remove(self.path("backup/" + name))
        return found

    def expected(self):
        """Of Open MPI's build, in one process."""
        result = darknet.run([OPEN_MPI, *TRAIN, "-ddp_exact"], self.folder)
        self.assertEqual(result.code, 0, result)
        return self.weights()

    def check_trained(self, result, ranks, expected):
        self.assertEqual(result.code, 0, result)
        self.assertIn(f"DDP: {ranks} ranks on 1 host (", result.out, result)
        self.same_weights(self.weights(), expected, result)

    def test_trains_to_the_same_weights(self):
        expected = self.expected()
        for ranks in (2, 4):
            for schedule in ("direct", "levels"):
                words = [self.mpiexec, "-n", str(ranks), darknet.PROGRAM, *TRAIN, "-ddp_exact", "-ddp_schedule", schedule]
                self.check_trained(darknet.run(words, self.folder), ranks, expected)

    def test_starts_ranks(self):
        expected = self.expected()
        self.check_trained(self.succeeds(*TRAIN, "-ddp_exact", "-ddp_ranks", 2), 2, expected)

    def test_within_a_lone_task_of_srun(self):
        """As in `srun --pty bash`: ranks that mpiexec starts there are ranks, and start no others."""
        lone = {"SLURM_JOB_ID": "1", "SLURM_STEP_NUM_TASKS": "1", "SLURM_PROCID": "0"}
        expected = self.expected()
        for ranks, words in ((2, (self.mpiexec, "-n", "2", darknet.PROGRAM, *TRAIN)), (2, (darknet.PROGRAM, *TRAIN, "-ddp_ranks", "2")),
                             (1, (darknet.PROGRAM, *TRAIN, "-ddp_max_restarts", "1"))):
            with self.subTest(words=words):
                result = darknet.run([*words, "-ddp_exact"], self.folder, environment=lone)
                self.assertEqual(result.code, 0, result)
                self.assertEqual(result.out.count("DDP: sums over ranks") if ranks > 1 else 0, ranks // 2, result)
                self.same_weights(self.weights(), expected, result)

    def test_without_ddp_two_processes_are_refused(self):
        words = [self.mpiexec, "-n", "2", darknet.PROGRAM, *TRAIN[:4]]
        self.check_refused(darknet.run(words, self.folder), "-ddp")

    def test_tasks_of_srun_that_mpich_does_not_know_are_refused(self):
        """As after --mpi=pmix, which Open MPI wants."""
        words = [darknet.PROGRAM, *TRAIN]
        for more in ({"PMIX_NAMESPACE": "slurm.pmix.1.0"}, {}):
            result = darknet.run(words, self.folder, environment={"SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "0", **more})
            self.check_refused(result, "--mpi=pmi2", code=2)
            self.assertNotIn("--mpi=pmix", result.err)

    def test_goes_on_where_the_other_has_stopped(self):
        """Begun in one process of Open MPI's build."""
        expected = self.expected()
        self.cfg(3)
        result = darknet.run([OPEN_MPI, *TRAIN, "-ddp_exact"], self.folder)
        self.assertEqual(result.code, 0, result)
        self.cfg(6)
        words = [self.mpiexec, "-n", "2", darknet.PROGRAM, *TRAIN, "-ddp_exact", "-resume_force"]
        result = darknet.run(words, self.folder)
        self.assertIn("DDP: resum", result.out, result)
        self.check_trained(result, 2, expected)

    def begin(self, *words):
        self.cfg(1000000)
        with open(self.path("said"), "w", encoding="utf-8") as said:
            job = darknet.start([darknet.PROGRAM, *TRAIN, "-ddp_ranks", "2", *words], self.folder, stdout=said, stderr=subprocess.STDOUT)
        self.addCleanup(darknet.end_group, job)
        self.wait_for("tiny_100.weights.state", job)
        return job

    def test_a_signal_saves_and_ends_it(self):
        """mpiexec would end at the signal that ranks save at."""
        for number in (signal.SIGTERM, signal.SIGINT):
            job = self.begin()
            job.send_signal(number)
            self.assertEqual(job.wait(darknet.LIMIT_S), 0, self.said())
            self.assertIn("DDP: stopped after batch ", self.said())
            for name in os.listdir(self.path("backup")):
                os.remove(self.path("backup/" + name))

    def test_a_killed_rank_ends_the_job(self):
        job = self.begin()
        os.kill(self.ranks_of(job)[1], signal.SIGKILL)
        self.assertNotEqual(job.wait(darknet.LIMIT_S), 0, self.said())

    def ranks_of(self, job):
        """Process ids of the ranks below this job."""
        parents = {}
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as f:
                    parents[int(name)] = int(f.read().rpartition(")")[2].split()[1])
            except OSError:
                continue
        found = []
        for process, parent in parents.items():
            while parent in parents and parent != job.pid:
                parent = parents[parent]
            try:
                if parent == job.pid and os.readlink(f"/proc/{process}/exe") == os.path.realpath(darknet.PROGRAM):
                    found.append(process)
            except OSError:
                continue
        self.assertEqual(len(found), 2, self.said())
        return sorted(found)
