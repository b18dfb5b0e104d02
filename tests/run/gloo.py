#!/usr/bin/env python3
# ddp-test: usual
"""-ddp_backend gloo: the parameter files of MPI's, whatever the number of ranks, the schedule and the buckets; started by mpirun or
one by one, without MPI; ended on one transport and resumed on the other; a killed rank is named; what does not go with it is
refused. With $DARKNET_GPU ranks share that GPU: Gloo then sums in host memory, and ranks that meet by files may sum by NCCL.
(Sums to the bit: mpi.allreduce_gloo, sums.gloo; how ranks meet: unit.group_rendezvous; between hosts: run.hosts.)"""
import os
import re
import signal
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402
import strangers  # noqa: E402

PRELOAD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "preload", "late.c")
TRAIN = ("detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_seed", "7", "-threads", "1")
MPI = ("-ddp_backend", "mpi")
GLOO = ("-ddp_backend", "gloo")
MET = GLOO if darknet.GPU else ()  # where ranks meet by files and Gloo is to carry sums
DEVICE = "GPU .*" if darknet.GPU else "CPU"
SMALL = ("-ddp_bucket_mb", "0.001", "-ddp_first_bucket_mb", "0.001")


class Gloo(darknet.Case):
    def setUp(self):
        super().setUp()
        self.data = darknet.DataSet(self.folder, count=11)
        self.data.boxes()
        self.cfg(12)

    def cfg(self, steps, batch=8):
        self.write("tiny.cfg", darknet.detector_cfg(batch=batch, subdivisions=batch, max_batches=steps))

    def weights(self):
        """The last ones; the folder is empty afterwards."""
        with open(self.path("backup/tiny_final.weights"), "rb") as f:
            found = f.read()
        for name in os.listdir(self.path("backup")):
            os.remove(self.path("backup/" + name))
        return found

    def trained(self, *options, ranks=2):
        result = self.succeeds(*TRAIN, *options, ranks=ranks)
        return self.weights(), result

    def start(self, *words, ranks, launch=()):
        """Processes, which end with the test."""
        started = darknet.by_hand(words, self.folder, ranks, launch)
        for process in started:
            self.addCleanup(lambda one=process: one.poll() is None and darknet.end_group(one))
        return started

    def by_hand(self, *options, ranks=2):
        """Weights, and each rank's Result."""
        results = [darknet.ended(process) for process in self.start(*TRAIN, *options, ranks=ranks)]
        for result in results:
            self.assertEqual(result.code, 0, result)
        return self.weights(), results


class Results(Gloo):
    def test_the_weights_are_those_of_mpi(self):
        for ranks in (2, 3, 4):
            self.cfg(12, batch=12 if ranks == 3 else 8)
            expected, result = self.trained(*MPI, ranks=ranks)
            self.assertRegex(result.out, rf"\), {DEVICE}, transport mpi\n", result)
            for options in ((), ("-ddp_schedule", "direct", *SMALL), ("-ddp_schedule", "direct", "-ddp_overlap", "0")):
                with self.subTest(ranks=ranks, options=options):
                    found, result = self.trained(*GLOO, *options, ranks=ranks)
                    self.assertIn(f"DDP: {ranks} ranks on 1 host (", result.out, result)
                    self.assertRegex(result.out, rf"\), {DEVICE}, transport gloo\n", result)
                    self.same_weights(found, expected)

    def test_exact_is_what_one_process_gives(self):
        expected, _ = self.trained("-ddp_exact", ranks=0)
        for ranks in (2, 4):
            for options in (SMALL, ("-ddp_schedule", "direct")):
                with self.subTest(ranks=ranks, options=options):
                    self.same_weights(self.trained("-ddp_exact", *GLOO, *options, ranks=ranks)[0], expected)

    def test_gradients_of_16_bits(self):
        options = ("-ddp_compress", "bf16", "-ddp_schedule", "direct")
        self.same_weights(self.trained(*options, *GLOO)[0], self.trained(*options, *MPI)[0])

    def test_sharded_optimizers(self):
        options = ("-ddp_shard_optimizer", "1")
        self.same_weights(self.trained(*options, *GLOO)[0], self.trained(*MPI)[0])

    def test_this_program_starts_the_ranks(self):
        expected, _ = self.trained()
        self.same_weights(self.trained(*GLOO, "-ddp_ranks", "2", ranks=0)[0], expected)

    def test_one_rank(self):
        _, result = self.trained(*GLOO, ranks=0)
        self.assertIn("DDP: 1 rank on 1 host (", result.out, result)

    def test_bench_counts_as_much_as_over_mpi(self):
        sent = {}
        for backend in ("mpi", "gloo"):
            result = self.succeeds("ddp", "bench", "tiny.cfg", "-steps", "2", "-ddp_schedule", "direct", "-json", "figures",
                                   "-ddp_backend", backend, ranks=2)
            self.assertIn(f" on 2 ranks (CPU, fp32, {backend}), ", result.out, result)
            with open(self.path("figures"), encoding="ascii") as f:
                sent[backend] = [line for line in f.read().splitlines() if "messages" in line or "sent" in line]
        self.assertNotEqual(sent["mpi"], [])
        self.assertEqual(sent["mpi"], sent["gloo"])


class ByHand(Gloo):
    def test_ranks_that_are_started_one_by_one(self):
        for ranks in (2, 3):
            self.cfg(12, batch=6)
            expected, _ = self.trained(*MPI, ranks=ranks)
            found, results = self.by_hand(*MET, ranks=ranks)
            self.same_weights(found, expected)
            for rank, result in enumerate(results):
                self.assertIn(f"DDP: rank {rank} of {ranks} meets the others at {self.path('meet')}\n", result.out, result)
            self.assertRegex(results[0].out, rf"\), {DEVICE}, transport gloo\n", results[0])
            self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("meet")], [])

    def test_files_of_an_earlier_start_are_no_ranks(self):
        """A rank that nobody meets leaves its file when it is killed."""
        alone = self.start(*TRAIN, ranks=2)
        alone[1].kill()
        alone[0].kill()
        for process in alone:
            process.communicate()
        with open(self.path("meet.1"), "wb") as f:
            f.write(b"left by something else")
        expected, _ = self.trained()
        self.same_weights(self.by_hand()[0], expected)

    def test_ctrl_c_in_one_shell_saves_and_ends_all(self):
        self.cfg(1000000)
        ranks = self.start(*TRAIN, "-log_every", "1000", ranks=2)
        self.wait_for("tiny_100.weights", ranks[0])
        ranks[1].send_signal(signal.SIGINT)
        results = [darknet.ended(process) for process in ranks]
        self.assertEqual([result.code for result in results], [0, 0], results[0])
        self.assertIn("DDP: stopped after batch ", results[0].out, results[0])
        self.assertIn("darknet: saving, then ending; once more to end at once\n", results[1].err, results[1])
        self.assertIn("tiny.backup.state", self.saved())

    def test_commands_of_ours(self):
        one = self.succeeds("ddp", "check", "train.data", "tiny.cfg")
        results = [darknet.ended(process) for process in self.start("ddp", "check", "train.data", "tiny.cfg", ranks=2)]
        self.assertEqual([result.code for result in results], [0, 0], results[0])
        self.assertIn(one.out.splitlines()[0], results[0].out, results[0])

    def test_a_rank_that_does_not_come_is_named(self):
        result = self.darknet(*TRAIN, "-ddp_io_timeout", "1", "-ddp_rendezvous", "meet",
                              environment={"DARKNET_DDP_RANK": "0", "DARKNET_DDP_RANKS": "2"})
        self.check_refused(result, "rank 1 has not come to meet for 1 s")

    def test_wrong_numbers(self):
        for rank, ranks in (("2", "2"), ("x", "2"), ("-1", "2"), ("0", "x"), ("", "2")):
            variables = {"DARKNET_DDP_RANK": rank, "DARKNET_DDP_RANKS": ranks}
            result = self.darknet(*TRAIN, "-ddp_rendezvous", "meet", environment=variables)
            self.check_refused(result, "darknet: DARKNET_DDP_RANK wants a number from 0, and DARKNET_DDP_RANKS", code=2)
        result = self.darknet(*TRAIN, environment={"DARKNET_DDP_RANK": "0", "DARKNET_DDP_RANKS": "2"})
        self.check_refused(result, "-ddp_rendezvous FILE says where they meet", code=2)


class Resumed(Gloo):
    def test_on_the_other_transport(self):
        expected, _ = self.trained(*MPI)
        for first, second in ((MPI, GLOO), (GLOO, MPI)):
            self.cfg(6)
            self.succeeds(*TRAIN, *first, ranks=2)
            self.cfg(12)
            found, result = self.trained(*second, "-resume_force", ranks=2)
            self.assertIn("DDP: resuming from backup/tiny_final.weights: 6 batches, 48 images, by 2 ranks\n", result.out, result)
            self.assertTrue(found == expected, result)


class Killed(Gloo):
    def test_a_killed_rank_is_named_by_the_others(self):
        """One of them may come to its sum when the other has ended for it, and then names that one."""
        self.cfg(1000000, batch=6)
        for options in ((), ("-ddp_schedule", "direct")):
            ranks = self.start(*TRAIN, "-log_every", "1000", *MET, *options, ranks=3)
            self.wait_for("tiny_100.weights", ranks[0])
            ranks[1].send_signal(signal.SIGKILL)
            named = set()
            for rank in (0, 2):
                result = self.check_refused(darknet.ended(ranks[rank]), "rank ")
                gone = re.search(rf"connection with rank ([1{2 - rank}]) \(host |rank ([1{2 - rank}]) .*(?:gone|lost)", result.err)
                self.assertTrue(gone, result)
                named.add(gone[1] or gone[2])
            self.assertIn("1", named)
            darknet.ended(ranks[1])
            for name in os.listdir(self.path("backup")):
                os.remove(self.path("backup/" + name))


class Besieged(Gloo):
    def test_strangers_at_each_port_change_nothing(self):
        """The last of three ranks connects when the strangers are there: until then the others listen."""
        self.cfg(200, batch=6)
        expected, _ = self.trained(*MPI, ranks=3)
        library, until = self.path("late.so"), self.path("until")
        subprocess.run(["cc", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", library, PRELOAD], check=True)
        launch = [(), (), ("env", f"LD_PRELOAD={library}", f"LATE_UNTIL={until}")]
        ranks = self.start(*TRAIN, *MET, ranks=3, launch=launch)
        pids = [process.pid for process in ranks]
        siege = strangers.Strangers(lambda: pids)
        siege.start()
        self.addCleanup(siege.end)
        self.until(lambda: siege.met_by(3 * strangers.EACH) >= 2, lambda: str(siege.met), ranks[0])
        self.write("until", "")
        self.wait_for("tiny_100.weights", ranks[0])
        self.assertEqual(strangers.ports_of(pids), set(), siege.met)
        for result in map(darknet.ended, ranks):
            self.assertEqual(result.code, 0, result)
        self.same_weights(self.weights(), expected)


@unittest.skipUnless(darknet.GPU, "wants a GPU")
class OnGpus(Gloo):
    def test_ranks_that_meet_by_files_sum_by_nccl(self):
        expected, _ = self.trained("-ddp_exact", ranks=0)
        for ranks, backend in ((2, ()), (4, ("-ddp_backend", "nccl"))):
            with self.subTest(ranks=ranks):
                found, results = self.by_hand("-ddp_exact", *backend, ranks=ranks)
                self.assertRegex(results[0].out, rf"\), {DEVICE}, transport nccl [\d.]+\n", results[0])
                self.same_weights(found, expected)

    def test_a_killed_rank_ends_what_nccl_sums(self):
        self.cfg(1000000, batch=6)
        ranks = self.start(*TRAIN, "-log_every", "1000", ranks=3)
        self.wait_for("tiny_100.weights", ranks[0])
        ranks[1].send_signal(signal.SIGKILL)
        for rank in (0, 2):
            self.check_refused(darknet.ended(ranks[rank]), "rank 1 ")
        darknet.ended(ranks[1])

    def test_what_does_not_go_with_it(self):
        for options, says in (((*GLOO, "-ddp_channels", "2"), "-ddp_channels 2 wants ranks that MPI connects: Gloo has no communicators\n"),
                              (("-ddp_rendezvous", "meet", "-ddp_channels", "2"), "-ddp_channels 2 wants ranks that MPI connects: "),
                              (("-ddp_rendezvous", "meet", *MPI), "-ddp_rendezvous is for -ddp_backend gloo, or nccl on GPUs, and not for mpi\n")):
            self.refused(*TRAIN, *options, code=2, says=says)


class Refused(Gloo):
    def test_what_does_not_go_with_it(self):
        for options, says in (
                (("-ddp_rendezvous", "meet"), "-ddp_rendezvous is for ranks that are started one by one"),
                (("-ddp_rendezvous", "meet", "-ddp_backend", "mpi"), "-ddp_rendezvous is for -ddp_backend gloo, or nccl on GPUs, and not for mpi\n"),
                (("-ddp_rendezvous", "meet", "-ddp_backend", "solo"), "-ddp_rendezvous is for -ddp_backend gloo, or nccl on GPUs, and not for solo\n"),
                (("-ddp_rendezvous", "meet", "-ddp_backend", "nccl", "-ddp_ranks", "2"), "-ddp_backend nccl is for GPUs, and this build is for CPUs\n"),
                ((*GLOO, "-gpus", "0"), "this build is for CPUs")):
            self.refused(*TRAIN, *options, code=2, says=says)


def main():
    if not darknet.has_gloo():
        print("this build has no Gloo: libgloo-dev was not there")
        sys.exit(77)
    darknet.main()


if __name__ == "__main__":
    main()
