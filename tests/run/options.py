#!/usr/bin/env python3
# ddp-test: usual
"""The command line: what is accepted where, what is refused in which words, and help."""
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402

TRAIN = ("detector", "train", "train.data", "tiny.cfg")

# The program's own table says which options there are, with a value or without, and where.
TABLE = darknet.options()
# Values that do not follow from it.
GIVEN = {"-ddp_ranks": "2", "-ddp_hosts": "localhost:2", "-ddp_interface": "lo", "-ddp_local_sgd": "1", "-ddp_seed": "7", "-tensorboard": "events",
         "-ddp_trace": "trace.json", "-ddp_trace_steps": "1:2"}
# They would not go with the others, or not with every build.
ELSEWHERE = {"-ddp_rendezvous": "meet"}


def harmless(row):
    """A value that changes nothing that a test would see: the default, else the lowest."""
    number = re.match(r"[0-9.]+", row["default"])
    if "low" in row:
        return number[0] if number else f"{row['low']:g}"
    return row["default"]


def chosen(flags, *scopes):
    return [name for name, row in TABLE.items() if (row["kind"] == "flag") == flags and row["scope"] in scopes]


VALUES = {name: GIVEN.get(name) or harmless(TABLE[name]) for name in chosen(False, "ranks", "anywhere") if name not in ELSEWHERE}
ANYWHERE = chosen(False, "anywhere")
FLAGS = chosen(True, "ranks")
ALONE = [name for name in chosen(True, "anywhere") if name != "-ddp"]
# Darknet's, which -ddp takes over.
# What Darknet's code reads for `detector test` and `detector demo`, which are ours.
OF_DEMO = ("-prefix", "-thresh", "-hier", "-c", "-s", "-avg", "-w", "-h", "-fps", "-fullscreen")
SHARED = [name for name, row in TABLE.items() if row["scope"] == "shared"]

# Sentences in full; that each option refuses what it cannot take is asked of the table.
BAD_VALUES = [
    ("-ddp_ranks", "0", "-ddp_ranks wants a whole number from 1 to 4096, not '0'"),
    ("-ddp_ranks", "two", "-ddp_ranks wants a whole number from 1 to 4096, not 'two'"),
    ("-ddp_ranks", "1.5", "-ddp_ranks wants a whole number from 1 to 4096, not '1.5'"),
    ("-ddp_max_restarts", "-1", "-ddp_max_restarts wants a whole number from 0 to 1000, not '-1'"),
    ("-ddp_grace", "x", "-ddp_grace wants a number from 0 to 86400, not 'x'"),
    ("-ddp_backend", "tcp", "-ddp_backend wants auto|nccl|mpi|gloo|solo, not 'tcp'"),
    ("-ddp_backend", "mp", "-ddp_backend wants auto|nccl|mpi|gloo|solo, not 'mp'"),
    ("-ddp_schedule", "ring", "-ddp_schedule wants auto|direct|hierarchical|levels, not 'ring'"),
    ("-ddp_bucket_mb", "0", "-ddp_bucket_mb wants a number from 0.001 to 1024, not '0'"),
    ("-ddp_bucket_mb", "nan", "-ddp_bucket_mb wants a number from 0.001 to 1024, not 'nan'"),
    ("-ddp_bucket_mb", "25MB", "-ddp_bucket_mb wants a number from 0.001 to 1024, not '25MB'"),
    ("-ddp_first_bucket_mb", "2000",
     "-ddp_first_bucket_mb wants a number from 0.001 to 1024, not '2000'"),
    ("-ddp_overlap", "2", "-ddp_overlap wants 0 or 1, not '2'"),
    ("-ddp_batch", "local", "-ddp_batch wants global|rank, not 'local'"),
    ("-ddp_batch", "", "-ddp_batch wants global|rank, not ''"),
    ("-ddp_broadcast_buffers", "0", "-ddp_broadcast_buffers wants step|save, not '0'"),
    ("-ddp_find_unused", "yes", "-ddp_find_unused wants 0 or 1, not 'yes'"),
    ("-points", "12", "-points wants 11 or 101, not '12'"),
    ("-ddp_sync_bn", "2", "-ddp_sync_bn wants 0 or 1, not '2'"),
    ("-ddp_sync_every", "0", "-ddp_sync_every wants a whole number from 1 to 100000, not '0'"),
    ("-ddp_channels", "9", "-ddp_channels wants a whole number from 1 to 8, not '9'"),
    ("-ddp_compress_after", "-1", "-ddp_compress_after wants a whole number from 0 to 1000000, not '-1'"),
    ("-ddp_layer_drop", "1", "-ddp_layer_drop wants a number from 0 to 0.9, not '1'"),
    ("-ddp_shard_optimizer", "2", "-ddp_shard_optimizer wants 0 or 1, not '2'"),
    ("-ddp_local_sgd", "-1", "-ddp_local_sgd wants a whole number from 0 to 100000, not '-1'"),
    ("-ddp_local_warmup", "-1", "-ddp_local_warmup wants a whole number from 0 to 1000000, not '-1'"),
    ("-ddp_slowmo", "1", "-ddp_slowmo wants a number from 0 to 0.9999, not '1'"),
    ("-ddp_slowmo_rate", "0", "-ddp_slowmo_rate wants a number from 0.001 to 10, not '0'"),
    ("-ddp_seed", "-1", "-ddp_seed wants a whole number from 0 to 9223372036854775807, not '-1'"),
    ("-ddp_seed", "99999999999999999999",
     "-ddp_seed wants a whole number from 0 to 9223372036854775807, not '99999999999999999999'"),
    ("-ddp_on_save_error", "go on", "-ddp_on_save_error wants stop|continue, not 'go on'"),
    ("-ddp_on_nan", "go on", "-ddp_on_nan wants stop, or skip and a whole number from 1 to 100000, not 'go on'"),
    ("-ddp_on_bad_data", "skip 0", "-ddp_on_bad_data wants stop, or skip and a whole number from 1 to 100000, not 'skip 0'"),
    ("-ddp_verify_every", "-1", "-ddp_verify_every wants a whole number from 0 to 100000, not '-1'"),
    ("-keep", "0", "-keep wants a whole number from 1 to 100000, not '0'"),
    ("-threads", "0", "-threads wants a whole number from 1 to 64, not '0'"),
    ("-ddp_nccl_ctas", "65", "-ddp_nccl_ctas wants a whole number from 0 to 64, not '65'"),
    ("-ddp_bf16", "2", "-ddp_bf16 wants 0|1|auto, not '2'"),
    ("-ddp_fp32", "2", "-ddp_fp32 wants 0 or 1, not '2'"),
    ("-ddp_deterministic", "on", "-ddp_deterministic wants 0 or 1, not 'on'"),
    ("-i", "-1", "-i wants a whole number from 0 to 1023, not '-1'"),
    ("-gpus", "0,,1", "-gpus wants numbers of GPUs from 0 to 1023 with commas between them, such as "
                      "0,1,2, not '0,,1'"),
    ("-gpus", "0,", "-gpus wants numbers of GPUs from 0 to 1023 with commas between them, such as "
                    "0,1,2, not '0,'"),
    ("-gpus", "0," * 64 + "0", "-gpus takes up to 64 GPUs, and '" + "0," * 64 + "0' names more"),
]


class Options(darknet.Case):
    def setUp(self):
        super().setUp()
        darknet.DataSet(self.folder).boxes()
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=1))

    def test_an_option_may_stand_anywhere(self):
        words = [word for pair in VALUES.items() if pair[0] != "-patience" for word in pair]  # which wants validations
        words += ["-ddp_replace", "-i", "0", "-nogpu"]
        for place in range(len(TRAIN) + 1):
            with self.subTest(place=place):
                result = self.succeeds(*TRAIN[:place], *words, "-ddp", *TRAIN[place:])
                self.assertIn("DDP: 2 ranks on 1 host", result.out, result)
                self.assertIn("DDP: seed 7\n", result.out, result)

    def test_a_bad_value_is_refused(self):
        for name, value, sentence in BAD_VALUES:
            with self.subTest(name=name, value=value):
                self.refused(*TRAIN, "-ddp", name, value, says=f"darknet: {sentence}\n", code=2)

    def test_every_option_refuses_what_it_cannot_take(self):
        for name, row in TABLE.items():
            if row["kind"] in ("flag", "text") or row["scope"] == "command":
                continue
            wrong = ["x"]
            if "low" in row:
                wrong += [f"{row['low'] - 1:g}", f"{row['high'] * 2:.0f}"]
            for value in wrong:
                with self.subTest(name=name, value=value):
                    self.refused(*TRAIN, "-ddp", name, value, says=(f"darknet: {name} wants ", f", not '{value}'\n"), code=2)

    def test_a_missing_value_is_refused(self):
        for name in (*VALUES, *ELSEWHERE, "-gpus", "-i"):
            with self.subTest(name=name):
                self.refused(*TRAIN, "-ddp", name, says=f"darknet: {name} needs a value: {name} ",
                             code=2)

    def test_a_number_behind_a_flag_is_refused(self):
        for name in ("-ddp", *FLAGS, *ALONE, "-nogpu"):
            for value, says in (("1", "leave the 1 out"), ("0", "leave both out for off")):
                with self.subTest(name=name, value=value):
                    self.refused(*TRAIN, *(("-ddp",) if name != "-ddp" else ()), name, value, says=f"darknet: {name} takes no value: {says}\n", code=2)
        self.refused("ddp", "check", "train.data", "tiny.cfg", "-deep", "1", says="darknet: -deep takes no value: leave the 1 out\n", code=2)

    def test_an_option_of_ranks_is_refused_by_what_does_not_train(self):
        words = [(name, value) for name, value in (VALUES | ELSEWHERE).items() if name not in ANYWHERE] + [(name,) for name in FLAGS]
        for command in (("detector", "recall", "train.data", "tiny.cfg", "x.weights"), ("yolo", "train", "tiny.cfg")):
            for option in words:
                with self.subTest(option=option):
                    self.refused(*command, *option, says=f"darknet: {option[0]} is for commands that train on ranks, ", code=2)

    def test_without_ddp_each_is_taken(self):
        words = [word for name in ANYWHERE for word in (name, VALUES[name])]
        result = self.succeeds(*TRAIN, *words, "-weights_force", "-nogpu", "-verbose", "-ddp_exact", "-epochs", "1")
        self.assertIn("DDP: 1 rank on 1 host ", result.out, result)
        self.assertIn("Loaded: ", result.out)
        result = self.succeeds("-ddp_seed", "7", "detector", "-ddp_bucket_mb", "1", *TRAIN[1:])
        self.assertIn("DDP: seed 7", result.out, result)

    def test_darknet_s_own_commands_read_their_own(self):
        self.refused("detector", "recall", "train.data", "tiny.cfg", "x.weights", "-i", "x", says="darknet: -i x: not a number\n", code=2)

    def test_gpus_are_refused_in_a_build_for_cpus(self):
        says = "darknet: -gpus names GPUs, and this build is for CPUs; -ddp_ranks N starts N ranks "
        for gpus in ("0", "0,1"):
            for words in ((*TRAIN, "-ddp"), ("ddp", "bench", "tiny.cfg")):
                with self.subTest(gpus=gpus, words=words):
                    self.refused(*words, "-gpus", gpus, code=2, says=says)
        for words in ((*TRAIN, "-ddp"), ("ddp", "bench", "tiny.cfg")):
            for ranks, who in ((0, "darknet: "), (2, "darknet[rank 0 @ ")):
                result = self.refused(*words, "-ddp_backend", "nccl", code=2, ranks=ranks, says=who)
                self.assertIn("-ddp_backend nccl is for GPUs, and this build is for CPUs\n",
                              result.err, result)

    def test_options_of_gpus_in_a_build_for_cpus(self):
        for words in ((*TRAIN, "-ddp"), ("ddp", "bench", "tiny.cfg", "-steps", "1")):
            for ranks in (0, 2):
                with self.subTest(words=words, ranks=ranks):
                    says = "-i names GPU 1, and this build is for CPUs; leave -i out\n"
                    result = self.refused(*words, "-i", "1", code=2, ranks=ranks, says=says)
                    self.assertEqual(result.err.count(says), 1, result)
                    says = "DDP: -ddp_nccl_ctas 2 does nothing: this build is for CPUs\n"
                    for nogpu in ((), ("-nogpu", "-i", "1")):
                        result = self.succeeds(*words, "-ddp_nccl_ctas", "2", *nogpu, ranks=ranks)
                        self.assertEqual(result.out.count(says), 1, result)
        self.assertNotIn("does nothing", self.succeeds(*TRAIN, "-ddp", "-ddp_nccl_ctas", "0").out)

    def test_an_unknown_option_is_refused(self):
        self.refused(*TRAIN, "-ddp", "-ddp_foo", "1", code=2,
                     says="darknet: unknown option '-ddp_foo'; `darknet ddp help` lists them\n")
        self.refused(*TRAIN, "-ddpranks", code=2, says="unknown option '-ddpranks'")
        self.refused("ddp", "plan", "tiny.cfg", "-foo", code=2, says="unknown option '-foo'")
        for ddp in ([], ["-ddp"]):
            self.refused(*TRAIN, "-foo", *ddp, says="detector train does not know the option '-foo'")

    def test_a_removed_option_is_refused_with_what_to_use(self):
        for words in ((*TRAIN, "-ddp", "-ddp_autotune", "1"), (*TRAIN, "-ddp_autotune", "1"), ("ddp", "bench", "tiny.cfg", "-ddp_autotune", "1")):
            result = self.refused(*words, code=2, says="darknet: -ddp_autotune is gone: ")
            for instead in ("`darknet ddp bench CFG -ddp_bucket_mb MIB`", "`darknet ddp plan CFG -profile FILE -ddp_bucket_mb MIB`"):
                self.assertIn(instead, result.err, result)

    def test_what_a_removed_option_names_works(self):
        for size in ("0.001", "4"):
            bench = self.succeeds("ddp", "bench", "tiny.cfg", "-steps", "1", "-ddp_bucket_mb", size, "-profile", "times", ranks=2)
            self.assertRegex(bench.out, r"(?m)^step +\d", bench)
            plan = self.succeeds("ddp", "plan", "tiny.cfg", "-np", "2", "-profile", "times", "-ddp_bucket_mb", size)
            self.assertIn(" step s ", plan.out, plan)

    def test_where_to_read_more_is_said(self):
        for words, guide in (((*TRAIN, "-ddp", "-ddp_timeout", "-4"), "failures"), ((*TRAIN, "-ddp", "-resum"), "resume"),
                             ((*TRAIN, "-ddp", "-ddp_exact", "-ddp_compress", "bf16"), "resume"), ((*TRAIN, "-ddp", "-gpus", "0"), "gpus")):
            self.refused(*words, code=2, says=f"\n  more: darknet-ddp/docs/{guide}.md\n")
        self.assertNotIn("more: ", self.refused(*TRAIN, "-ddp", "-ddp_foo", code=2, says="unknown option").err)

    def test_under_mpirun_one_rank_speaks(self):
        result = self.refused(*TRAIN, "-ddp", "-ddp_foo", ranks=2, code=2,
                              says="darknet[rank 0 @ ")
        self.assertEqual(result.err.count("unknown option"), 1, result)

    def test_words_of_the_forks_that_mean_nothing(self):
        for ddp in ([], ["-ddp"]):
            self.succeeds("detector", "-dont_show", *TRAIN[1:], *ddp)
            self.succeeds(*TRAIN, "-clear", "1", *ddp)

    def test_ranks_must_agree_with_the_launcher(self):
        self.refused(*TRAIN, "-ddp", "-ddp_ranks", "3", ranks=2, code=2,
                     says="-ddp_ranks 3, but the launcher started 2\n")
        self.refused(*TRAIN, "-ddp", "-ddp_backend", "solo", ranks=2, code=2,
                     says="-ddp_backend solo is for one process, but the launcher started 2\n")
        self.refused(*TRAIN, "-ddp", "-ddp_backend", "solo", "-ddp_ranks", "2", code=2,
                     says="darknet: -ddp_backend solo is for one process, not for 2\n")

    def test_commands_that_cannot_run_are_refused(self):
        for words, reason in (
                ("lsd train", "`lsd` cannot run under -ddp: it trains two networks"),
                ("yolo train", "`yolo` cannot run under -ddp: its data paths are fixed"),
                ("coco train", "`coco` cannot run under -ddp: its data paths are fixed"),
                ("super train", "`super` cannot run under -ddp: its data paths are fixed"),
                ("tag train", "`tag` cannot run under -ddp: its data paths are fixed"),
                ("detector recall", "`darknet detector recall` does not train"),
                ("classifier fout", "`darknet classifier fout` does not train"),
                ("detector trian", "darknet detector has no 'trian'; did you mean train?"),
                ("detector", "darknet detector wants one of train, "),
                ("nonsense", "darknet has no command 'nonsense'"),
                ("detector train", "usage: darknet detector train DATA CFG [WEIGHTS] [options]"),
                ("cifar train", "usage: darknet cifar train CFG [WEIGHTS] [options]"),
                ("", "darknet --help names some")):
            with self.subTest(words=words):
                self.refused(*words.split(), "-ddp", says=reason, code=2)
        self.write("gru.cfg", darknet.rnn_cfg().replace("[rnn]", "[gru]").replace("hidden=8\nactivation=leaky\n", "", 1))
        self.write("text", "to be or not to be")
        os.makedirs(self.path("backup"), exist_ok=True)
        self.refused("rnn", "train", "gru.cfg", "-file", "text", "-ddp", code=2,
                     says="layer 0 is of type gru")


class Habits(darknet.Case):
    """What people type who come from another program."""

    def setUp(self):
        super().setUp()
        self.data = darknet.DataSet(self.folder)
        self.data.boxes()
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=1))

    def test_what_means_nothing_is_taken_and_said(self):
        result = self.succeeds(*TRAIN, "-map", "-mjpeg_port", "8090", "-chart", "x.png", "--dont_show")
        for line in ("DDP: -map: a run validates by itself on valid= of the .data file; -ddp_validate K sets how often",
                     "DDP: -mjpeg_port: the chart is backup/tiny.html, a page that any browser opens; no port is opened\n",
                     "DDP: -chart: the chart is backup/tiny.html, "):
            self.assertEqual(result.out.count(line), 1, result)

    def test_what_means_something_else_is_refused_with_what_to_type(self):
        for words, says in (("-lr .1 -ddp", "'-lr'; here: -learning_rate X\n"),
                            ("--imgsz 640 -ddp", "'--imgsz'; here: -width PIXELS -height PIXELS\n"),
                            ("--batch-size=8", "'--batch-size=8'; here: -batch N: that of all ranks together\n"),
                            ("--epochs 3 -ddp", "'--epochs'; here: -epochs N, with one dash\n"),
                            ("epochs=3", "'epochs=3' is no file; here: -epochs N, with a blank in place of the =\n"),
                            ("-np 2 -ddp", "'-np'; here: -ddp_ranks N, or mpirun -np N in front of darknet\n"),
                            ("--nproc_per_node=2 -ddp", "here: -ddp_ranks N; on several hosts -ddp_hosts A:N,B:N\n"),
                            ("-ranks 2 -ddp", "'-ranks'; here: -ddp_ranks N\n"), ("--seed=3", "'--seed=3'; here: -ddp_seed N, with a blank in place of the =\n"), ("-resume=true -ddp", "'-resume=true'; here: -resume, without a value\n"),
                            ("-seed 3 -ddp", "'-seed'; here: -ddp_seed N\n"), ("-thresh .5 -ddp", "'-thresh'; here: detector test has -thresh X"),
                            ("-ext_output", "here: detector test -ext_output prints boxes"), ("-letter_box -ddp", "here: letter_box=1 in [net]")):
            with self.subTest(words=words):
                self.refused(*TRAIN, *words.split(), code=2, says=says)
        self.refused("detector", "map", "train.data", "tiny.cfg", "x.weights", "-thresh", ".5", code=2, says="darknet detector map does not read -thresh (test, demo, export: ")
        self.refused("detecter", "train", "train.data", "tiny.cfg", "-ddp", code=2, says="did you mean detector?")
        self.refused("detector", "map", "train.data", "tiny.cfg", "x.weights", "-iou_thresh", ".5", code=2, says="here: map prints average precision at")

    def test_commands_that_are_verbs(self):
        for ddp in ((), ("-ddp",)):
            self.refused("train", "x.data", *ddp, code=2, says="darknet has no command 'train'; type darknet detector train DATA CFG [WEIGHTS], ")
        self.refused(code=2, says="darknet --help names some")
        self.assertIn("usage: darknet detector train DATA CFG", self.succeeds(*TRAIN, "-ddp", "-h").out)


class Overrides(darknet.Case):
    """Values on the line in place of the cfg's."""

    def setUp(self):
        super().setUp()
        darknet.DataSet(self.folder).boxes()  # 8 pictures
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=100, policy="steps", steps="40,80", scales=".1,.1", burn_in=10))

    def train(self, *options, ranks=2):
        return self.succeeds(*TRAIN, "-ddp", "-ddp_seed", "1", *options, ranks=ranks)

    def test_epochs_and_batch(self):
        result = self.train("-epochs", "5")
        said = "DDP: in place of the cfg's: max_batches=10 (100), steps=4,8 (40,80), burn_in=3 (10)\n"
        self.assertEqual(result.out.count(said), 1, result)
        for name in ("tiny.log", "tiny.html"):
            with open(self.path("backup/" + name), encoding="utf-8") as f:
                self.assertIn("max_batches=10 (100), steps=4,8 (40,80)", f.read())
        self.assertIn("; 10 steps", result.out)
        with open(self.path("backup/tiny_final.weights"), "rb") as f:
            short = f.read()
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=10, policy="steps", steps="4,8", scales=".1,.1", burn_in=3))
        self.assertNotIn("in place of", self.train().out)
        with open(self.path("backup/tiny_final.weights"), "rb") as f:
            self.assertEqual(short, f.read())

    def test_a_step_before_the_end_stays_before_it(self):
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=100, policy="steps", steps="40,95", scales=".1,.1", burn_in=10))
        result = self.train("-epochs", "2")
        self.assertIn("max_batches=4 (100), steps=2,3 (40,95)", result.out)
        self.assertNotIn("ends the run before", result.out)

    def test_batch_and_size(self):
        result = self.train("-batch", "16", "-subdivisions", "4", "-width", "64", "-learning_rate", "0.01", "-epochs", "2")
        self.assertIn("batch=16 (4), subdivisions=4 (2), width=64 (32), learning_rate=0.01 (0.001), max_batches=1 (100), ", result.out)
        self.assertIn("DDP: batch 16 = 2 ranks x 2 mini-batches x 4 images", result.out)
        self.assertIn("DDP: in place of the cfg's: batch=8 (4), max_batches=50 (100), steps=20,40 (40,80)\n",
                      self.train("-batch", "8", "-log_every", "50").out)
        says = "tiny.cfg:3: {}subdivisions=2: each has at least one picture of a batch, and batch=1: subdivisions= (or -subdivisions) is to be at most 1"
        self.refused(*TRAIN, "-ddp", "-batch", "1", code=1, says=says.format(""))
        self.assertIn(says.format("error: "), self.darknet("ddp", "check", *TRAIN[2:], "-batch", "1").out)

    def test_a_value_of_the_cfg_is_wrong_all_the_same(self):
        good = dict(max_batches=100, policy="steps", steps="40,80", scales=".1,.1", burn_in=10)
        for key, value, options, says in (
                ("batch", "abc", "-batch 8", "not a number"), ("batch", "0", "-batch 8", "must be positive"), ("batch", "-8", "-batch 8", "must be positive"),
                ("burn_in", "-5", "-epochs 1", "must not be negative"), ("max_batches", "-5", "-epochs 1", "must not be negative"),
                ("steps", "40,x", "-epochs 1", "not a number"), ("subdivisions", "0", "-subdivisions 2", "must be positive"),
                ("width", "abc", "-width 64", "not a number"), ("learning_rate", "abc", "-learning_rate 0.01", "not a number")):
            with self.subTest(key=key, value=value):
                self.write("tiny.cfg", darknet.detector_cfg(**{**good, key: value}))
                self.refused(*TRAIN, "-ddp", *options.split(), code=1, says=f"{key}={value}: {says}")
                result = self.darknet("ddp", "check", *TRAIN[2:], *options.split())
                self.assertRegex(result.out, rf"(?m)^tiny\.cfg:\d+: error: {key}={value}: {says}$")
        self.write("tiny.cfg", darknet.detector_cfg(**{**good, "max_batches": 0}))  # which -epochs does not ask
        self.assertIn("max_batches=2 (0)", self.train("-epochs", "1").out)
        self.assertIn("\n0 errors", self.succeeds("ddp", "check", *TRAIN[2:], "-epochs", "1").out)

    def test_a_checkpoint_holds_them(self):
        self.train("-epochs", "2")
        says = "-epochs was 2, is now 3"
        self.refused(*TRAIN, "-ddp", "-resume", "-epochs", "3", ranks=2, says=says)
        self.assertIn("nothing left to train", self.train("-resume", "-epochs", "2").out)

    def test_the_line_that_trains_further(self):
        """It is typed as it is told, again and again."""
        result = self.train("-epochs", "2", "-clear")
        for steps in (4, 8):
            (command,) = re.findall(r"(?m)^DDP: `(.*)` goes on from backup/", result.out)
            self.assertNotIn("-clear", command)
            result = darknet.run(["sh", "-c", command], self.folder)
            self.assertEqual(result.code, 0, result)
            self.assertIn(f"DDP: trained to batch {2 * steps} of {2 * steps}\n", result.out)

    def test_the_line_that_trains_further_than_a_part_of_a_batch(self):
        with open(self.path("train.list"), encoding="utf-8") as f:
            first = f.readline()
        self.write("train.list", first)
        result = self.train("-batch", "8", "-epochs", "3")
        self.assertIn("steps=0,0: at 0 the rate changes before the first batch", result.out)
        for steps, epochs in ((1, 9), (2, 18), (3, 36)):
            self.assertIn(f"DDP: trained to batch {steps} of {steps}\n", result.out)
            (command,) = re.findall(r"(?m)^DDP: `(.*)` goes on from backup/", result.out)
            self.assertIn(f"-epochs {epochs} ", command)
            result = darknet.run(["sh", "-c", command], self.folder)
        first = self.train("-batch", "8", "-epochs", "3")
        again = re.findall(r"(?m)`(.*)` trains further", self.train("-batch", "8", "-epochs", "3", "-resume").out)
        self.assertEqual(len(again), 1)
        self.assertIn("-epochs 9 ", again[0])

    def test_epochs_of_no_pictures(self):
        self.write("net.cfg", darknet.rnn_cfg())
        self.write("text", "to be or not to be")
        self.refused("rnn", "train", "net.cfg", "-file", "text", "-ddp", "-epochs", "2", code=2, says="-epochs counts the pictures of a .data file's train=")


# Commands that Darknet itself passes options over in silence, with as many words as they want.
SILENT = ("partial a b c 1", "ops a", "speed a", "rescale a b c", "imtest a", "art a b", "lsd traingan a b c d",
          "average a b c", "detect a b c", "classify a b c", "nightmare a b c 1", "yolo test a b c", "coco valid a b",
          "super test a b c", "tag test a b c", "mkimg a b 1 1 1 c", "visualize a b", "oneoff2 a b c 1")


class Darknets(darknet.Case):
    """Options of Darknet's own commands, which our main knows."""

    def test_what_a_ddp_command_does_not_read_is_refused(self):
        for command, option in ((("ddp", "top", "a", "b", "c"), ("-json", "f")), (("classifier", "valid", "a", "b", "c"), ("-out", "f")),
                                (("ddp", "plan", "a"), ("-json", "f")), (("ddp", "check", "a", "b"), ("-o", "f")), (("detector", "map", "a", "b", "c"), ("-steps", "3"))):
            name = "classifier valid" if command[1] == "top" else " ".join(command[:2])
            self.refused(*command, *option, code=2, says=f"darknet {name} does not read {option[0]} (")
        for command in ("plan", "bench"):
            self.assertNotIn("does not read", self.darknet("ddp", command, "none.cfg", "-w", "32").err)

    def test_figures_that_are_not_kept_go_nowhere(self):
        self.refused("detector", "train", "a", "b", "-ddp", "-ddp_records", "0", "-tensorboard", "t", code=2, says="-tensorboard wants the figures of steps, and with -ddp_records 0 there are none")

    def test_an_unknown_option_is_refused_by_every_command(self):
        for words in SILENT:
            name = " ".join(words.split()[:2 if words.split()[1] in ("traingan", "test", "valid") else 1])
            with self.subTest(words=words):
                self.refused(*words.split(), "-foo", code=2,
                             says=f"darknet: {name} does not know the option '-foo'\n")

    def test_one_that_another_verb_reads_is_refused(self):
        for ddp in ((), ("-ddp",)):
            self.refused(*TRAIN, "-w", "320", *ddp, code=2,
                         says="detector train does not know the option '-w'; detector demo does\n")
        self.refused("average", "a", "b", "-gpus", "0", says="average does not know the option '-gpus'\n")

    def test_what_may_have_been_meant_is_said(self):
        for words, says in (
                ("detector test a b c -thresh -1", "-thresh wants a number from 0 to 1, not '-1'\n"),
                ("detector test a b c -thresh 25", "-thresh wants a number from 0 to 1, not '25'; 0.25?\n"),
                ("detector test a b -tresh .3", "unknown option '-tresh'; did you mean -thresh?"),
                ("detector train a b -claer", "does not know the option '-claer'; did you mean -clear?"),
                ("detector train a b -resum", "does not know the option '-resum'; did you mean -resume?"),
                ("detector train a b -ddp -ddp_rank 3",
                 "unknown option '-ddp_rank'; did you mean -ddp_ranks? `darknet ddp help` lists them"),
                ("ddp plan a -sudbivisions 2", "unknown option '-sudbivisions'; did you mean -subdivisions?"),
                ("detector trian a b", "darknet detector has no 'trian'; did you mean train?"),
                ("detecter train a b", "darknet has no command 'detecter'; did you mean detector?")):
            with self.subTest(words=words):
                self.refused(*words.split(), code=2, says=says)
        self.assertNotIn("did you mean", self.refused("ops", "a", "-zzzzzzzz", code=2, says="-zzzzzzzz").err)

    def test_values_and_numbers_are_no_options(self):
        self.refused("detector", "test", "a", "b", "-thresh", code=2, says="-thresh needs a value: -thresh X\n")
        self.refused("3d", "a", "b", "c", "-5", says='Cannot load image "a"')
        self.refused("rnn", "generate", "a", "-seed", "-foo", "-bar", code=2, says="option '-bar'")

    def test_the_table_is_what_darknets_code_reads(self):
        """Every option that a command's code asks for is known to one of its verbs, with a value or without; every
        verb is known."""
        commands = {"instance-segmenter": "isegmenter"}
        tried = 0
        for name in ("detector", "classifier", "segmenter", "instance-segmenter", "regressor", "go", "cifar", "rnn",
                     "lsd", "yolo", "coco", "super", "tag"):
            with open(f"{os.environ['DARKNET_SRC']}/examples/{name}.c", encoding="utf-8") as f:
                code = re.sub(r"(?s)/\*.*?\*/|//[^\n]*", "", f.read())
            code = code[code.index("void run_"):]
            command = commands.get(name, name)
            verbs = re.findall(r'strcmp\(argv\[2\], "(\w+)"\)', code)
            ours = {"detector": ("valid", "test", "demo"), "classifier": ("valid", "predict")}.get(command, ())
            verbs = [verb for verb in verbs if verb not in ours]
            self.assertGreater(len(verbs), 1, name)
            for kind, option in re.findall(r'find_(\w+?_)?arg\(argc, argv, "(-\w+)"', code):
                if option in SHARED or (command, option) == ("classifier", "-t") or command == "detector" and option in OF_DEMO:
                    continue  # ours, and of commands that are ours
                unknown = {"": "-is_a_flag", "char_": "-is_a_value"}.get(kind, "-1")
                says = ["'-ends_here'" if kind else "'-is_a_flag'"]
                heard = [self.refused(command, verb, "a", option, unknown, "-ends_here", code=2, says=command).err
                         for verb in verbs]
                self.assertTrue(any(says[0] in text for text in heard), f"{command} {option}: {heard}")
                self.assertFalse(any(" has no " in text for text in heard), heard)
                tried += 1
        self.assertGreater(tried, 40)


class Help(darknet.Case):
    def test_every_option_is_listed(self):
        """Those of training, which are tried above, and those of other commands."""
        result = self.succeeds("ddp", "help")
        rows = re.findall(r"(?m)^  (-\w+) .*?  +.*[a-z].*$", result.out[result.out.index("Options"):])
        self.assertEqual(sorted(set(rows)), sorted(TABLE))
        tried = {"-ddp", *VALUES, *ELSEWHERE, *FLAGS, *ALONE, *SHARED}
        self.assertEqual({name for name, row in TABLE.items() if row["scope"] != "command"}, tried)
        self.assertEqual(result.err, "")

    def test_the_front_door(self):
        for words in ("--help", "-h", "help"):
            self.assertIn("darknet detector train", self.succeeds(words).out)
        self.assertRegex(self.succeeds("--version").out, r"^darknet-ddp \d+\.\d+\.\d+\n$")
        for command, key in (("detector", "names="), ("classifier", "labels="), ("rnn", "-tokenized"), ("ddp", "-ddp_ranks"),
                             ("partial", "[CFG]")):
            for words in ([command, "--help"], [command, "-h"], [command, "help"], ["help", command],
                          [command, "train", "x", "--help"]):
                self.assertIn(key, self.succeeds(*words).out)
        for words in ("", "nonsense", "nonsense --help", "detector nonsense", "--nonsense", "ddp", "detector train -nonsense",
                      "detector", "detector train", "detector train x.data", "detector test x.data", "classify x.cfg",
                      "detector map x", "ddp check x.data", "ddp chek x y", "nightmare", "mkimg", "average x y",
                      "rnn train -clear", "cifar", "ddp completion fish"):
            result = self.darknet(*words.split())
            self.assertEqual((result.code, result.out), (2, ""), result)

    def test_what_a_command_wants_is_said(self):
        for words, says in (("detector train", "usage: darknet detector train DATA CFG [WEIGHTS] [options]"),
                            ("detector", "darknet detector wants one of train, test, valid, valid2, recall, calc_anchors, demo, map; "),
                            ("ops -nogpu", "usage: darknet ops CFG\n"),
                            ("ddp map a b", "usage: darknet detector map DATA CFG WEIGHTS [options]"),
                            ("ddp chek a b", "darknet ddp has no 'chek'; did you mean check?")):
            self.refused(*words.split(), says=says, code=2)

    def test_other_words_are_refused(self):
        for words in ("", "plan", "bench", "plan a b", "nonsense", "help me"):
            self.refused("ddp", *words.split(), says="usage: darknet ddp ", code=2)


if __name__ == "__main__":
    darknet.main()
