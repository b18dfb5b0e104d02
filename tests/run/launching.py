#!/usr/bin/env python3
# ddp-test: usual
"""Starting ranks: processes without -ddp, more ranks than cores, what mpirun would misread; and ending what was started,
whatever it is at."""
import collections
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402

CHATTER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "preload", "chatter.c")
NO_START = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "preload", "no_start.c")
TRAIN = ("detector", "train", "train.data", "tiny.cfg")
CORES = len(os.sched_getaffinity(0))
PROMISED_S = 5  # README: then all are gone
TRIES = 5


def of_session(session):
    """Processes of this session that have not ended. What mpirun starts stays in it."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as f:
                fields = f.read().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(name))
    return found


class Start(darknet.Case):
    def setUp(self):
        super().setUp()
        self.data = darknet.DataSet(self.folder)
        self.data.boxes()
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=1))


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
            self.refused(*words, "-ddp_ranks", many, code=2,
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


class Interrupts(Start):
    """Ctrl-C before a run has begun to train says so."""

    SAYS = "darknet: the run ends before it has begun to train; nothing is saved\n"

    def begin(self, *words):
        return self.begin_command(*TRAIN, "-ddp", *words)

    def begin_command(self, *words):
        with open(self.path("said"), "w", encoding="utf-8") as said:
            job = darknet.start(darknet.command(*words), self.folder, stdout=said, stderr=said)
        self.addCleanup(darknet.end_group, job)
        return job

    def check(self, job, number=signal.SIGINT):
        job.send_signal(number)
        self.assertNotIn(job.wait(darknet.LIMIT_S), (0, 1), self.said())
        self.assertEqual(self.said().count(self.SAYS), 1, self.said())
        self.assertEqual(os.listdir(self.path("backup")), [])

    def test_of_ranks(self):
        job = self.begin("-ddp_ranks", "2")
        mpirun = self.until(lambda: [pid for pid in of_session(job.pid) if pid != job.pid and re.search("mpi|prte", darknet.command_line(pid).split()[0])],
                            self.said, job)[0]
        os.kill(mpirun, signal.SIGSTOP)  # and starts no rank
        self.check(job)

    def test_over_an_earlier_run(self):
        """Either nothing of it has moved, and that is said, or the run has begun, and is saved, and that is said."""
        self.succeeds(*TRAIN, "-ddp", "-ddp_ranks", "2", "-ddp_oversubscribe")
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=10000000))
        earlier = sorted(os.listdir(self.path("backup")))
        ends = set()
        for delay in (.1, .2, .25, .3, .35, .4, .6, 2):
            for number in (signal.SIGINT, signal.SIGTERM):
                with self.subTest(delay=delay, signal=number):
                    job = self.begin("-ddp_ranks", "2", "-ddp_oversubscribe")
                    time.sleep(delay)
                    job.send_signal(number)
                    code = job.wait(darknet.LIMIT_S)
                    found = sorted(os.listdir(self.path("backup")))
                    ends.add(code)
                    if code == 0:
                        self.assertEqual(self.said().count("darknet: saving, then ending; once more to end at once\n"), 1, self.said())
                        self.assertNotIn(self.SAYS, self.said())
                        self.assertIn("tiny.1", found)
                        self.assertIn("tiny.backup.state", found)
                        shutil.rmtree(self.path("backup/tiny.1"))
                        earlier = sorted(set(found) - {"tiny.1"})
                        continue
                    self.assertIn(code, (128 + number, -number), self.said())
                    self.assertEqual(found, earlier, self.said())
                    if code > 0:
                        self.assertEqual(self.said().count(self.SAYS), 1, self.said())
                        self.assertEqual(self.said().count("darknet"), 1, self.said())
        self.assertTrue(ends & {128 + signal.SIGINT, 128 + signal.SIGTERM}, ends)

    def test_of_one_process(self):
        os.remove(self.path("labels/cat0.txt"))
        os.mkfifo(self.path("labels/cat0.txt"))  # it waits for these labels
        job = self.begin()
        self.until(lambda: signal.SIGINT in darknet.signals_in(job.pid, "SigCgt"), self.said, job)
        self.check(job)

    def test_of_one_process_that_owns_its_name(self):
        """NAME.lock goes, too, also where a terminal is closed."""
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=10000000))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number):
                self.assertTrue(any(self.ends_untrained(number) for _ in range(30)))

    def ends_untrained(self, number):
        """Asked between the lock and the first step, if it is not too late."""
        shutil.rmtree(self.path("backup"))
        os.mkdir(self.path("backup"))
        job = self.begin()
        while not os.path.exists(self.path("backup/tiny.lock")):
            pass
        job.send_signal(number)
        code = job.wait(darknet.LIMIT_S)
        self.assertFalse(os.path.exists(self.path("backup/tiny.lock")), self.said())
        self.assertEqual(self.SAYS in self.said(), code != 0, self.said())
        return code != 0

    def test_of_what_does_not_train(self):
        job = self.begin_command("ddp", "bench", "tiny.cfg", "-steps", "100000")
        self.until(lambda: signal.SIGUSR1 in darknet.signals_in(job.pid, "SigCgt"), self.said, job)
        job.send_signal(signal.SIGINT)
        self.assertEqual(job.wait(darknet.LIMIT_S), -signal.SIGINT, self.said())
        self.assertNotIn(self.SAYS, self.said())

    def test_ctrl_backslash_ends_what_does_not_train(self):
        """Its ranks do not say where they are."""
        self.succeeds(*TRAIN)
        with open(self.path("train.data"), "a", encoding="ascii") as f:
            f.write("valid=long.list\n")
        self.write("long.list", "images/cat0.png\n" * 300000)
        job = self.begin_command("detector", "map", "train.data", "tiny.cfg", "backup/tiny_final.weights", "-ddp_ranks", "2")
        self.until(lambda: sum(darknet.command_line(pid).startswith(darknet.PROGRAM) for pid in of_session(job.pid)) == 3, self.said, job)
        job.send_signal(signal.SIGQUIT)
        self.assertNotEqual(job.wait(darknet.LIMIT_S), 0, self.said())
        self.assertNotIn("no rank", self.said())


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


class Ends(Start):
    def begin(self, *options, until=None):
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=10000000, batch=64, subdivisions=64))
        job = darknet.start([darknet.PROGRAM, *TRAIN, "-ddp", *options], self.folder, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL)
        self.addCleanup(darknet.end_group, job)
        if until:
            self.assertTrue(any(until in line for line in job.stdout), "it ended before")
        return job

    def ends(self, job, number):
        """All of it; its exit status. self.took is then how long that took."""
        before = of_session(job.pid)
        began = time.monotonic()
        job.send_signal(number)
        self.until(lambda: not of_session(job.pid), lambda: f"{of_session(job.pid)} of {before} are left")
        self.took = time.monotonic() - began
        job.stdout.close()
        return job.wait(darknet.LIMIT_S)

    def in_time(self, end):
        """end() ends a job; once at least within what is promised, since something else may have had the cores meanwhile."""
        took = []
        while not took or min(took) >= PROMISED_S and len(took) < TRIES:
            end()
            took.append(self.took)
        self.assertLess(min(took), PROMISED_S, took)

    def goes_on(self):
        job = self.begin("-resume", until=" avg, ")
        self.assertEqual(self.ends(job, signal.SIGTERM), 0)

    def test_while_ranks_start(self):
        """From the first moment on, many of them on few cores. Who trains by then saves, and ends well."""
        for delay in (0, .05, .3, 1.5):
            for number in (signal.SIGTERM, signal.SIGINT):
                with self.subTest(delay=delay, signal=number):
                    self.in_time(lambda delay=delay, number=number: self.end_after(delay, number))

    def end_after(self, delay, number):
        job = self.begin("-ddp_ranks", str(8 * CORES), "-ddp_oversubscribe")
        time.sleep(delay)
        code = self.ends(job, number)
        took = self.took
        if code == 0:
            self.assertIn("tiny.backup.state", os.listdir(self.path("backup")))
        elif "tiny.backup" in os.listdir(self.path("backup")):  # mpirun had not told ranks that it had begun to start
            self.goes_on()
        for name in os.listdir(self.path("backup")):
            os.remove(self.path("backup/" + name))
        self.took = took

    def test_many_ranks_that_train(self):
        def end():
            job = self.begin("-ddp_ranks", str(8 * CORES), "-ddp_oversubscribe", until="DDP: seed")
            self.ends(job, signal.SIGTERM)

        self.in_time(end)

    def test_ranks_that_answer_nothing(self):
        """Stopped ranks neither save nor end, and mpirun's SIGTERM does not reach them."""
        def end():
            job = self.begin("-ddp_ranks", "2", "-ddp_oversubscribe", until=" avg, ")
            for process in of_session(job.pid):
                if process != job.pid:
                    os.kill(process, signal.SIGSTOP)
            job.send_signal(signal.SIGTERM)
            # A second one that comes before the first is taken is no second one.
            self.until(lambda: signal.SIGTERM not in darknet.signals_in(job.pid, "ShdPnd"), job=job)
            time.sleep(.3)  # nor is one that comes within a quarter of a second
            self.assertNotEqual(self.ends(job, signal.SIGTERM), 0)

        self.in_time(end)

    def test_bench(self):
        self.write("tiny.cfg", darknet.detector_cfg())

        def end():
            job = darknet.start([darknet.PROGRAM, "ddp", "bench", "tiny.cfg", "-steps", "100000", "-ddp_ranks", "2"], self.folder,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            self.addCleanup(darknet.end_group, job)
            time.sleep(1.5)
            self.assertNotEqual(self.ends(job, signal.SIGINT), 0)

        self.in_time(end)


class Output(Start):
    """What becomes of a run whose output is closed, and what is the last that a run says."""

    def setUp(self):
        super().setUp()
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=10000000))

    def begin(self, *words, launcher=()):
        with open(self.path("err"), "w", encoding="utf-8") as err:
            job = darknet.start([*launcher, darknet.PROGRAM, *TRAIN, "-ddp", *words], self.folder, stdout=subprocess.PIPE,
                                stderr=err)
        self.addCleanup(darknet.end_group, job)
        for line in job.stdout:
            if " avg, " in line:
                return job
        self.fail("no batch was trained: " + self.said())

    def said(self):
        with open(self.path("err"), encoding="utf-8") as f:
            return f.read()

    def wait_for_checkpoint(self):
        self.until(lambda: os.path.exists(self.path("backup/tiny.backup")), self.said)

    def wait_for_another(self, job):
        state = self.path("backup/tiny.backup.state")
        self.until(lambda: os.path.exists(state), self.said)
        before = os.stat(state).st_mtime_ns
        job.send_signal(signal.SIGUSR1)
        self.until(lambda: os.path.exists(state) and os.stat(state).st_mtime_ns != before, self.said)

    def test_nobody_reads(self):
        """As in `| head`: the run goes on, and a signal still saves and ends it."""
        for words in ((), ("-ddp_ranks", "2")):
            with self.subTest(words=words):
                job = self.begin(*words)
                job.stdout.close()
                time.sleep(1)
                self.assertIsNone(job.poll(), self.said())
                job.send_signal(signal.SIGINT)
                self.assertEqual(job.wait(darknet.LIMIT_S), 0, self.said())
                self.assertIn("tiny.backup.state", os.listdir(self.path("backup")))
                os.remove(self.path("backup/tiny.backup.state"))

    def test_lines_of_ranks_are_whole(self):
        """Also where each rank prints long ones, in pieces, at the same time."""
        library = self.path("chatter.so")
        subprocess.run(["cc", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", library, CHATTER], check=True)
        self.write("tiny.cfg", darknet.detector_cfg(batch=4, subdivisions=4, max_batches=2))
        result = self.succeeds(*TRAIN, "-ddp", "-ddp_ranks", "4", "-ddp_oversubscribe", environment={"LD_PRELOAD": library})
        lines = [line for line in result.err.splitlines() if "rank " in line or re.search(r"(\d)\1{20}", line)]
        self.assertEqual(collections.Counter(lines), {f"rank {str(rank) * 400}": 300 for rank in range(4)})

    def test_a_full_disk_under_the_log(self):
        full = os.open("/dev/full", os.O_WRONLY)
        self.addCleanup(os.close, full)
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=200))
        for words in ((), ("-ddp_ranks", "2")):
            job = darknet.start([darknet.PROGRAM, *TRAIN, "-ddp", *words], self.folder, stdout=full, stderr=full)
            self.addCleanup(darknet.end_group, job)
            self.assertEqual(job.wait(darknet.LIMIT_S), 0)
            os.remove(self.path("backup/tiny_final.weights.state"))

    def test_what_goes_on_is_said_when_a_signal_ends_a_run(self):
        program = f"{darknet.PROGRAM} {' '.join(TRAIN)} -ddp"
        for words, launcher, line in (((), (), program), (("-ddp_ranks", "2"), (), program + " -ddp_ranks 2"),
                                      ((), ("mpirun", "-np", "2"), "mpirun -np 2 " + program)):
            with self.subTest(line=line):
                job = self.begin(*words, launcher=launcher)
                job.send_signal(signal.SIGUSR2)
                out = job.stdout.read()
                self.assertEqual(job.wait(darknet.LIMIT_S), 0, self.said())
                job.stdout.close()
                self.assertRegex(out, r"DDP: stopped after batch \d+ of 10000000\n")
                self.assertIn(f"DDP: `{line} -resume` goes on from backup/tiny.backup\n", out)

    def test_what_was_said_last_is_ours(self):
        """No box of mpirun's, where it was started by the program: that is in the log."""
        job = self.begin("-ddp_ranks", "2")
        job.send_signal(signal.SIGUSR1)
        self.wait_for_checkpoint()
        self.wait_for_another(job)  # by then it is known of the first that it was saved
        mpirun = [p for p in of_session(job.pid) if p != job.pid]
        ranks = [r for p in mpirun for r in darknet.ranks_under(p)]
        os.kill(ranks[1], signal.SIGKILL)
        self.assertNotEqual(job.wait(darknet.LIMIT_S), 0)
        job.stdout.close()
        self.assertRegex(self.said(), r"darknet: rank 1 on \S+ was ended by signal 9 \(Killed\); it had had \d+\.\d\d GB of memory\n")
        self.assertRegex(self.said(), r"`\S+ .* -ddp -ddp_ranks 2 -resume` goes on from the last checkpoint")
        self.assertNotIn("------", self.said())
        self.assertNotIn("mpiexec", self.said())
        with open(self.path("backup/tiny.log"), encoding="utf-8") as f:
            self.assertRegex(f.read(), r"on\s+signal 9 \(Killed\)")

    def test_nothing_is_said_of_a_checkpoint_where_none_was_saved(self):
        self.write("tiny.cfg", darknet.detector_cfg(batch=256, subdivisions=64, max_batches=10000000))  # long steps
        for words in ((), ("-resume",)):
            job = self.begin("-ddp_ranks", "2", *words)
            for rank in [r for p in of_session(job.pid) if p != job.pid for r in darknet.ranks_under(p)]:
                os.kill(rank, signal.SIGKILL)
            self.assertNotEqual(job.wait(darknet.LIMIT_S), 0)
            job.stdout.close()
            self.assertRegex(self.said(), r"was ended by signal 9 \(Killed\)")
            self.assertNotIn("goes on from", self.said())

    def test_an_error_of_the_ranks_stands_alone(self):
        with open(self.path("cut.weights"), "wb") as f:
            f.write(struct.pack("<3iq", 0, 2, 0, 0) + bytes(20))
        result = self.refused("detector", "train", "train.data", "tiny.cfg", "cut.weights", "-ddp", "-ddp_ranks", "2", says="cut.weights")
        self.assertRegex(result.err, r"\ndarknet\[rank 0 @ \S+\]: cut.weights ends inside of the weights of layer 0[^\n]*\n\Z")
        self.assertEqual(result.err.count("darknet["), 1, result)


if __name__ == "__main__":
    darknet.main()
