#!/usr/bin/env python3
# ddp-test: ci
"""Under Slurm: a cluster of one node that this test starts on loopback, as any user. Skipped where it is not installed
(Debian's slurmctld, slurmd, slurm-client and slurm-wlm-basic-plugins)."""
import os
import re
import shutil
import signal
import socket
import subprocess
import sys

sys.dont_write_bytecode = True
here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "python"))
import darknet  # noqa: E402
import slurm  # noqa: E402

TRAIN = ("detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_seed", "7", "-threads", "1")


class Slurm(darknet.Case):
    def setUp(self):
        super().setUp()
        self.data = darknet.DataSet(self.folder)
        self.data.boxes()
        self.write("tiny.cfg", darknet.detector_cfg(batch=4, subdivisions=4, max_batches=6))

    def srun(self, tasks, *words, mpi="pmix", environment=None, kill=1):
        return darknet.run(["srun", "--quiet", f"--mpi={mpi}", f"--kill-on-bad-exit={kill}", "--overcommit", "-n", str(tasks),
                            *map(str, words)], self.folder, environment=environment)

    def weights(self):
        with open(self.path("backup/tiny_final.weights"), "rb") as f:
            found = f.read()
        shutil.rmtree(self.path("backup"))
        os.mkdir(self.path("backup"))
        return found

    def test_tasks_train_to_one_file(self):
        self.succeeds(*TRAIN, "-ddp_exact")
        expected = self.weights()
        for tasks in (2, 4):
            result = self.srun(tasks, darknet.PROGRAM, *TRAIN, "-ddp_exact")
            self.assertEqual(result.code, 0, result)
            self.assertIn(f"DDP: {tasks} ranks on 1 host (", result.out, result)
            self.same_weights(self.weights(), expected, result)

    def test_tasks_that_mpi_does_not_know_are_refused(self):
        for mpi in ("none", "pmi2"):
            result = self.srun(3, darknet.PROGRAM, *TRAIN, mpi=mpi, kill=0)  # else srun may, before the first has spoken
            lines = [line for line in result.err.splitlines() if not line.startswith("srun: ")]
            self.assertEqual(len(lines), 1, result)
            self.assertRegex(lines[0], r"^darknet\[rank 0 @ .*\]: srun started 3 tasks, and MPI knows nothing of it: "
                                       r"srun --mpi=pmix tells it$")
            self.assertEqual((result.code, os.listdir(self.path("backup"))), (2, []), result)

    def test_tasks_that_gloo_connects_need_no_mpi(self):
        if not darknet.has_gloo():
            self.skipTest("this build has no Gloo")
        self.succeeds(*TRAIN, "-ddp_exact")
        expected = self.weights()
        result = self.srun(2, darknet.PROGRAM, *TRAIN, "-ddp_exact", "-ddp_rendezvous", "meet", mpi="none")
        self.assertEqual(result.code, 0, result)
        self.assertIn("DDP: 2 ranks on 1 host (", result.out, result)
        self.same_weights(self.weights(), expected, result)

    def test_one_task_is_one_process(self):
        for mpi in ("none", "pmix"):
            result = self.srun(1, darknet.PROGRAM, *TRAIN, mpi=mpi)
            self.assertEqual(result.code, 0, result)
            self.assertIn("DDP: 1 rank on 1 host (", result.out, result)

    def test_one_task_may_start_ranks(self):
        """As in a shell that srun --pty has started."""
        result = self.srun(1, darknet.PROGRAM, *TRAIN, "-ddp_ranks", 2, "-ddp_oversubscribe", mpi="none",
                           environment={"SLURM_OVERCOMMIT": "1"})
        self.assertEqual(result.code, 0, result)
        self.assertIn("DDP: 2 ranks on 1 host (", result.out, result)

    def test_a_batch_script_without_srun_is_refused(self):
        for words, code in ((TRAIN, 2), ((*TRAIN, "-ddp_backend", "solo"), 0)):
            self.write("job", "#!/bin/sh\n" + " ".join([darknet.PROGRAM, *words]) + "\n")
            result = darknet.run(["sbatch", "--wait", "--quiet", "--output", "said", "-n", "4", "job"], self.folder)
            with open(self.path("said"), encoding="utf-8") as f:
                said = f.read()
            self.assertEqual(result.code, code, said)
            self.assertEqual("darknet: this Slurm job has 4 tasks, and srun has started none of them: srun --mpi=pmix in front "
                             in said, code == 2, said)

    def read(self, name):
        try:
            with open(self.path(name), encoding="utf-8", errors="replace") as f:
                return f.read()
        except FileNotFoundError:
            return ""

    def sbatch(self, *words, script):
        self.write("job", "#!/bin/sh\n" + script)
        said = subprocess.run(["sbatch", "--parsable", *words, "job"], cwd=self.folder, env=darknet.ENVIRONMENT, check=True,
                              capture_output=True, text=True).stdout.strip()
        self.addCleanup(subprocess.run, ["scancel", "--signal=KILL", "--full", said], check=False, capture_output=True)
        return said

    def state(self, job):
        return subprocess.run(["squeue", "-h", "-o", "%T", "-j", job], check=False, capture_output=True, text=True).stdout.strip()

    @darknet.again_if_too_late
    def test_a_job_requeues_itself_until_it_has_finished(self):
        self.write("tiny.cfg", darknet.detector_cfg(batch=4, subdivisions=4, max_batches=6000 * self.longer))
        self.succeeds(*TRAIN, "-ddp_exact")
        expected = self.weights()
        train = " ".join(["srun --mpi=pmix --kill-on-bad-exit --overcommit -n 2", darknet.PROGRAM, *TRAIN, "-ddp_exact -resume"])
        job = self.sbatch("--requeue", "--open-mode=append", "--output=said", "-n", "2", script="[ -e backup/tiny.finished ] && exit\n"
                          f"{train}\n[ -e backup/tiny.finished ] || scontrol requeue $SLURM_JOB_ID\n")
        self.until(lambda: os.path.exists(self.path("backup/tiny_100.weights.state")), lambda: self.read("said"))
        subprocess.run(["scancel", "--signal=USR2", job], check=True)  # as --signal=USR2@300 does before the time is up
        self.until(lambda: self.state(job) in ("PENDING", ""), lambda: self.state(job) + self.read("said"))
        if os.path.exists(self.path("backup/tiny.finished")):
            os.remove(self.path("said"))
            raise darknet.TooLate
        # Not in two minutes; nor in the second in which it was requeued: slurmd then takes the new credential for the revoked one.
        subprocess.run(["scontrol", "update", f"JobId={job}", "StartTime=now+2"], check=True)
        self.until(lambda: os.path.exists(self.path("backup/tiny.finished")), lambda: self.state(job) + self.read("said"))
        self.until(lambda: self.state(job) in ("COMPLETED", ""), lambda: self.state(job) + self.read("said"))
        said = self.read("said")
        self.assertEqual(len(re.findall("DDP: 2 ranks on 1 host", said)), 2, said)
        self.assertEqual(len(re.findall("DDP: stopped after batch ", said)), 1, said)
        self.same_weights(self.weights(), expected)

    def test_tasks_of_an_array_do_not_save_over_each_other(self):
        self.write("tiny.cfg", darknet.detector_cfg(batch=4, subdivisions=4, max_batches=1000000))
        train = " ".join(["srun --mpi=pmix --overcommit -n 1", darknet.PROGRAM, *TRAIN])
        job = self.sbatch("--array=0-1", "--output=said.%a", "-n", "1", script=f"{train}\n")
        self.until(lambda: any("-ddp_take_over" in self.read(f"said.{i}") for i in (0, 1)),
                   lambda: self.read("said.0") + self.read("said.1"))
        refused = 0 if "-ddp_take_over" in self.read("said.0") else 1
        self.until(lambda: " avg, " in self.read(f"said.{1 - refused}"), lambda: self.read(f"said.{1 - refused}"))
        self.assertIn("another backup= or another name of the cfg keeps them apart", self.read(f"said.{refused}"))
        self.assertNotIn(" avg, ", self.read(f"said.{refused}"))
        self.assertIn("RUNNING", self.state(job).split())  # the other task may still be completing

    def steps_until(self, process, step):
        """Reads what it prints up to that step."""
        for line in process.stdout:
            if re.match(rf"{step}: ", line):
                return
        self.fail(f"srun ended before step {step}")

    def long_run(self, *words):
        """Two tasks that train for long, in step 3; and the number of the job."""
        self.write("tiny.cfg", darknet.detector_cfg(batch=4, subdivisions=4, max_batches=100000))
        name = os.path.basename(self.folder)
        process = darknet.start(["srun", "--quiet", "-J", name, "--mpi=pmix", "--kill-on-bad-exit", "--overcommit", "-n",
                                 "2", darknet.PROGRAM, *TRAIN, *words], self.folder, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT)
        self.addCleanup(darknet.end_group, process)
        self.steps_until(process, 3)
        number = subprocess.run(["squeue", "-h", "-o", "%i", "-n", name], check=True, capture_output=True, text=True).stdout
        return process, number.strip()

    def test_a_signal_of_scancel_saves_and_resume_goes_on(self):
        process, job = self.long_run()
        subprocess.run(["scancel", "--signal=USR2", job], check=True)
        out, _ = process.communicate(timeout=darknet.LIMIT_S)
        self.assertEqual(process.returncode, 0, out)
        self.assertTrue(os.path.exists(self.path("backup/tiny.backup")), out)
        self.assertFalse(os.path.exists(self.path("backup/tiny_final.weights")), out)
        step = int(re.findall(r"(?m)^(\d+): ", out)[-1])
        self.write("tiny.cfg", darknet.detector_cfg(batch=4, subdivisions=4, max_batches=step + 100))
        result = self.srun(4, darknet.PROGRAM, *TRAIN, "-resume_force")
        self.assertEqual(result.code, 0, result)
        first = int(re.search(r"(?m)^(\d+): ", result.out).group(1))
        self.assertGreater(first, step - 1, result)
        self.assertTrue(os.path.exists(self.path("backup/tiny_final.weights")), result)

    def test_a_task_that_is_killed_ends_the_job(self):
        process, _ = self.long_run()
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/environ", "rb") as f:
                    variables = f.read().split(b"\0")
                if os.readlink(f"/proc/{name}/cwd") == os.path.realpath(self.folder) and b"SLURM_PROCID=1" in variables:
                    found.append(int(name))
            except OSError:
                continue
        self.assertEqual(len(found), 1)
        os.kill(found[0], signal.SIGKILL)
        out, _ = process.communicate(timeout=darknet.LIMIT_S)
        self.assertNotEqual(process.returncode, 0, out)


if __name__ == "__main__":
    slurm.main([(socket.gethostname().partition(".")[0], "127.0.0.1", [])])
