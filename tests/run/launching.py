#!/usr/bin/env python3
# ddp-test: usual
"""Starting ranks: processes without -ddp, more ranks than cores, and what mpirun would misread."""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402
from launches import PROMISED_S, TRAIN, Start  # noqa: E402

NO_START = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "preload", "no_start.c")
CORES = len(os.sched_getaffinity(0))


class Alone(Start):
    def test_processes_without_ddp_are_refused(self):
        for words in (TRAIN, ("lsd", "traingan", "tiny.cfg", "x"), ("cifar", "distill", "tiny.cfg")):
            with self.subTest(words=words):
                result = self.refused(*words, ranks=2, code=2, says="darknet[rank 0 @ ")
                self.assertEqual(result.err.count("2 processes were started without -ddp: each would train"), 1, result)
                self.assertEqual(os.listdir(self.path("backup")), [])

    def test_so_are_those_of_srun(self):
        words = ["env", "SLURM_STEP_NUM_TASKS=2", "SLURM_PROCID=0", darknet.PROGRAM, *TRAIN]
        self.check_refused(darknet.run(words, self.folder), "2 processes were started without -ddp", code=2)

    def test_ranks_need_no_way_to_other_hosts(self):
        """As in a container: mpirun ends where it finds neither ssh nor rsh, unless it is told that it needs none."""
        self.succeeds(*TRAIN, "-ddp", "-ddp_ranks", "2", "-ddp_oversubscribe", environment={"PATH": self.folder})

    def test_a_host_that_has_no_address(self):
        """Our sentence says so, and no page of mpirun's, which -verbose shows."""
        self.write("ssh", "#!/bin/sh\necho ssh: Could not resolve hostname nohost: Name or service not known >&2\nexit 255\n")
        os.chmod(self.path("ssh"), 0o755)
        path = {"PATH": self.folder + ":" + os.environ["PATH"]}
        args = darknet.command(*TRAIN, "-ddp", "-ddp_hosts", "localhost:1,nohost:1")
        sentence = "darknet: the ranks could not be started (exit status 255): ssh: Could not resolve hostname nohost: Name or service not known; "
        result = self.check_refused(darknet.run(args, self.folder, environment=path), sentence, code=1)
        self.assertTrue(result.err.splitlines()[-1].startswith("darknet: "), result)
        unsaid = "ORTE was unable to reliably start" if darknet.open_mpi() < 5 else "PRTE has lost communication with a remote daemon"
        self.assertNotIn(unsaid, result.err, result)
        result = self.check_refused(darknet.run([*args, "-verbose"], self.folder, environment=path), unsaid)
        self.assertTrue(result.err.splitlines()[-1].startswith("darknet: "), result)

    def test_an_interface_that_is_not_there(self):
        """Open MPI would crash of it."""
        for words in ((*TRAIN, "-ddp"), ("detector", "map", "d.data", "tiny.cfg", "w.weights")):
            for start in ({"ranks": 2}, {"words": ("-ddp_ranks", "2")}, {}):
                with self.subTest(words=words, start=start):
                    result = self.refused(*words, "-ddp_interface", "eth77", *start.get("words", ()), ranks=start.get("ranks"),
                                          says="has no network interface eth77 that is up with an address; it has ")
                    self.assertRegex(result.err, "; it has .*lo")

    def test_unless_that_is_wanted(self):
        """Each is a run of one rank, which owns the name that it saves under."""
        script = 'exec "$0" detector train "$OMPI_COMM_WORLD_RANK.data" tiny.cfg -ddp_lone'
        for rank in range(2):
            self.data.data(f"{rank}.data", backup=f"of{rank}")
        result = darknet.run(["mpirun", "-np", "2", "sh", "-c", script, darknet.PROGRAM], self.folder)
        self.assertEqual(result.code, 0, result)
        self.assertEqual(result.out.count("DDP: 1 rank on 1 host ("), 2, result)
        for rank in range(2):
            self.assertIn("tiny_final.weights.state", os.listdir(self.path(f"of{rank}")))
        self.refused(*TRAIN, "-ddp_lone", "-ddp", code=2, says="-ddp_lone is for training without -ddp\n")

    def test_one_process_needs_no_word(self):
        self.assertIn("DDP: 1 rank on 1 host (", self.succeeds(*TRAIN, ranks=1).out)

    def test_ranks_that_are_started_need_no_word(self):
        for words in (("-ddp_ranks", "2"), ("-ddp_hosts", "localhost:2"), ("-ddp_ranks", "2", "-ddp_max_restarts", "1")):
            self.assertIn("DDP: 2 ranks on 1 host (", self.succeeds(*TRAIN, *words, "-ddp_oversubscribe").out)
        self.assertIn("DDP: 2 ranks on 1 host (", self.succeeds(*TRAIN, "-ddp_ranks", "2", ranks=2).out)

    def test_what_does_not_train_is_left_alone(self):
        self.refused("detector", "recall", "none.data", "x", "y", ranks=2, says="Couldn't open file: ")


class Crowds(Start):
    def test_more_than_four_ranks_a_core_are_refused(self):
        for words in ((*TRAIN, "-ddp"), ("ddp", "bench", "tiny.cfg")):
            many = 4 * CORES + 1
            for start in (("-ddp_ranks", many), ("-ddp_hosts", f"localhost:{many}")):
                self.refused(*words, *start, code=2,
                             says=f"darknet: {many} ranks on {CORES} core{'s' if CORES > 1 else ''} are more than 4 a core; "
                                  "-ddp_oversubscribe starts them all the same\n")

    def test_many_ranks_come_at_once(self):
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=2, batch=32, subdivisions=32))
        found = []
        for ranks in (1, 32):
            self.succeeds(*TRAIN, "-ddp", "-ddp_exact", "-ddp_seed", "7", "-ddp_oversubscribe", ranks=ranks)
            with open(self.path("backup/tiny_final.weights"), "rb") as f:
                found.append(f.read())
        self.same_weights(found[0], found[1])

    def test_on_fewer_cores_fewer(self):
        for ranks, said in ((1, False), (2, True), (4, True)):
            self.write("tiny.cfg", darknet.detector_cfg(max_batches=1))
            words = ["taskset", "-c", str(min(os.sched_getaffinity(0))), darknet.PROGRAM, *TRAIN, "-ddp", "-ddp_ranks", str(ranks)]
            result = darknet.run(words, self.folder)
            self.assertEqual(result.code, 0, result)
            self.assertEqual(f"DDP: {ranks} ranks share 1 core: they wait for each other\n" in result.out, said, result)
        words[-1] = "5"
        self.check_refused(darknet.run(words, self.folder), "5 ranks on 1 core are more than 4 a core", code=2)
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=1, batch=5, subdivisions=5))
        result = darknet.run([*words, "-ddp_oversubscribe"], self.folder)
        self.assertEqual(result.code, 0, result)


class Hosts(Start):
    """Hosts that cannot be reached: the job ends in time, and names them."""

    def agent(self, *lines):
        """In place of ssh: it is called with the name of a host, then a command."""
        self.write("agent", "#!/bin/sh\n" + "\n".join(lines) + "\n")
        os.chmod(self.path("agent"), 0o755)
        return {"OMPI_MCA_plm_rsh_agent": self.path("agent"), "PRTE_MCA_plm_ssh_agent": self.path("agent")}

    def start(self, agent, host="far.example"):
        return self.darknet(*TRAIN, "-ddp", "-ddp_hosts", f"localhost:1,{host}:1", "-ddp_io_timeout", "4", environment=agent)

    def test_a_way_that_hangs(self):
        result = self.check_refused(self.start(self.agent("sleep 600")), "darknet: no rank runs after 2 s; agent has not come back "
                                    "from far.example: is it up, and does `agent far.example true` end?\n")
        self.assertRegex(result.err, r"no rank runs after [45] s, and the job ends; agent has not come back from far\.example")
        self.assertLess(result.seconds, 4 + PROMISED_S)

    def test_a_way_that_is_refused(self):
        for lines, why in ((("echo ssh: connect to host $1 port 22: Connection refused >&2", "exit 255"),
                            "ssh: connect to host far.example port 22: Connection refused"), (("exit 3",), "agent ends with status 3")):
            self.check_refused(self.start(self.agent(*lines)), f"darknet: no rank can be started on host far.example: {why}\n")

    def test_a_name_that_resolves_to_nothing(self):
        self.check_refused(self.start({}, "none.invalid"), "darknet: no rank can be started on host none.invalid: ")

    def test_a_folder_of_another_host_is_not_checked_here(self):
        self.write("text.cfg", "[net]\nbatch=1\ninputs=256\n[connected]\noutput=256\n[softmax]\n")
        self.check_refused(self.darknet("rnn", "train", "text.cfg", "-backup", "text.cfg/x", "-ddp", "-ddp_hosts", "none.invalid:1"),
                           "darknet: no rank can be started on host none.invalid: ")


class Limits(Start):
    """What mpirun would crash of is refused before."""

    def within(self, *before):
        return darknet.run([*before, darknet.PROGRAM, *TRAIN, "-ddp", "-ddp_ranks", "2"], self.folder)

    def test_few_files(self):
        self.check_refused(self.within("sh", "-c", 'ulimit -n 30 && exec "$@"', "sh"), "a process may have 30 open files here, "
                           "and with 2 ranks needs about 48: `ulimit -n 48` raises that", code=2)

    def test_small_files_and_little_memory(self):
        """dash counts files in pieces of 512 bytes."""
        for limit, what in (("f 1000", "500 KB a file here, and with 2 ranks needs about 4608: `ulimit -f unlimited` raises that"),
                            ("v 300000", "300000 KB of addresses"), ("d 70000", "70000 KB of data"), ("s 200", "200 KB of stack")):
            with self.subTest(limit=limit):
                self.check_refused(self.within("sh", "-c", f'ulimit -{limit} && exec "$@"', "sh"), f"a process may have {what}", code=2)

    def test_a_limit_that_may_be_raised_is(self):
        for limit in ("n 30", "f 1000", "v 300000", "d 70000", "s 200"):
            with self.subTest(limit=limit):
                result = self.within("sh", "-c", f'ulimit -S{limit} && exec "$@"', "sh")
                self.assertEqual(result.code, 0, result)

    def test_a_limit_that_is_low_is_named_after_a_failure(self):
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=1, width=3200, height=3200))
        result = self.check_refused(self.within("sh", "-c", 'ulimit -v 600000 && exec "$@"', "sh"), "darknet", code=1)
        self.assertIn("darknet: a process may have 600000 KB of addresses here (ulimit -v)\n", result.err)

    def apart(self, words, first):
        """In namespaces of its own, where `first` comes first; skipped without the right to that."""
        if subprocess.run(["unshare", *words, "true"], check=False, stderr=subprocess.DEVNULL).returncode:
            self.skipTest("no namespaces here")
        return self.within("unshare", *words, "sh", "-c", first + ' && exec "$@"', "sh")

    def test_a_long_host_name(self):
        """Open MPI 4's mpirun writes beyond an array for it, 5's does not."""
        name = "h" * 57
        result = self.apart(["--uts"], f"hostname {name}")
        if darknet.open_mpi() < 5:
            self.check_refused(result, f"the host name {name} has 57 letters before a digit, and", code=2)
            result = self.apart(["--uts"], f"hostname {name[1:]}")
        self.assertEqual(result.code, 0, result)

    def test_little_shared_memory(self):
        self.check_refused(self.apart(["--mount"], "mount -t tmpfs -o size=64k none /dev/shm"), "/dev/shm has 64 KB, and MPI needs "
                           "8192 KB there for 2 ranks")

    def in_folder(self, options, fill=""):
        """With mpirun's files in a tmpfs of its own."""
        os.makedirs(self.path("room"), exist_ok=True)
        words = "env -u OMPI_MCA_orte_tmpdir_base -u PRTE_MCA_prte_tmpdir_base TMPDIR=room"
        return self.apart(["--mount"], f"mount -t tmpfs -o {options} none room {fill} && set -- {words} \"$@\"")

    def test_a_small_folder_for_its_files_is_enough(self):
        """PMIx would keep 8 MB there: ranks died where it had no room, and mpirun waited for ever."""
        for size in ("256k", "1m", "3m", "5m"):
            with self.subTest(size=size):
                result = self.in_folder(f"size={size}")
                self.assertEqual(result.code, 0, result)

    def test_a_folder_that_takes_nothing(self):
        for options, fill, why in (("size=64k", "", "No space left on device"), ("size=1m,ro", "", "Read-only file system"),
                                   ("size=9m", "&& head -c 9m /dev/zero >room/full", "No space left on device"),
                                   ("size=9m,nr_inodes=2", "", "No space left on device")):
            with self.subTest(options=options):
                self.check_refused(self.in_folder(options, fill.replace("&&", ";").replace("9m", "9437184")),
                                   f"mpirun needs a folder with 136 KB for its files, and room is none: {why}; TMPDIR=FOLDER in the ")

    def test_without_proc(self):
        """As in a bare chroot: the program asks itself for anchors."""
        if subprocess.run(["unshare", "--mount", "true"], check=False, stderr=subprocess.DEVNULL).returncode:
            self.skipTest("no namespaces here")
        result = darknet.run(["unshare", "--mount", "sh", "-c", 'umount -l /proc && exec "$@"', "sh", darknet.PROGRAM, "ddp", "cfg",
                              "yolov4-tiny", "-data", "train.data"], self.folder)
        self.assertEqual(result.code, 0, result)
        self.assertIn("\nanchors", result.out)

    def test_no_loopback_or_no_address(self):
        """Open MPI 5 wants both of the loopback interface."""
        up, bare = "ip link set lo up", "ip link set lo up && ip addr del 127.0.0.1/8 dev lo"
        other = "ip link add here type veth peer name there && ip addr add 10.9.9.1/24 dev here && ip link set here up && ip link set there up"
        without = "the loopback interface has no address of that here: as root, `ip addr add 127.0.0.1/8 dev lo`"
        for first, why in (("true", "the loopback interface is down here: as root, `ip link set lo up`"),
                           (other, "the loopback interface is down here: as root, `ip link set lo up`"),
                           (bare, without), (f"{bare} && {other}", without)):
            with self.subTest(first=first):
                self.check_refused(self.apart(["--net"], first), f"mpirun speaks with its ranks over IPv4, and {why}")
        for first in (up, f"{up} && {other}"):
            with self.subTest(first=first):
                result = self.apart(["--net"], first)
                self.assertEqual(result.code, 0, result)


class Hangs(Start):
    """Ranks that begin, and never come to train, have an end."""

    def start(self, how, *words):
        library = self.path("no_start.so")
        subprocess.run(["cc", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", library, NO_START], check=True)
        return self.darknet(*TRAIN, "-ddp", "-ddp_ranks", "2", *words, environment={"LD_PRELOAD": library, "NO_START": how})

    def test_a_rank_that_has_ended(self):
        result = self.start("ends")
        self.check_refused(result, "darknet: ", code=1)
        self.assertRegex(result.err, "a rank has ended before all had come together|rank 1 on .* has ended in the middle of the run")
        self.assertLess(result.seconds, 30)

    def test_ranks_that_are_stopped(self):
        """Their own watch does not run either."""
        result = self.check_refused(self.start("stops", "-ddp_io_timeout", "3"), "darknet: the ranks have not come together for ", code=1)
        self.assertLess(result.seconds, 30)


class Words(Start):
    def test_a_colon_starts_no_second_program(self):
        """mpirun would take what stands behind it for another program."""
        touch = ["touch", self.path("touched")]
        for place in (2, 4):
            words = [*TRAIN[:place], ":", *touch, *TRAIN[place:], "-ddp", "-ddp_ranks", "2"]
            self.refused(*words, says="detector train: nothing is to follow DATA CFG [WEIGHTS]", code=2)
        self.refused(*TRAIN, "-ddp", "-ddp_ranks", "2", "-threads", ":", says=":")
        self.assertFalse(os.path.exists(self.path("touched")))


if __name__ == "__main__":
    darknet.main()
