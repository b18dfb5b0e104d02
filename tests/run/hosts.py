#!/usr/bin/env python3
# ddp-test: usual
"""Two hosts, made of network namespaces, train together over TCP, to the very weights
that two ranks on one host give. Skipped where namespaces cannot be made."""
import json
import os
import re
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
os.environ["DDP_HOSTS_ID"] = str(os.getpid())
here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "python"))
import darknet  # noqa: E402

NAMESPACES = os.path.join(here, "..", "hosts", "namespaces.sh")
TRAIN = ("train.data", "tiny.cfg", "-ddp", "-ddp_seed", "7", "-threads", "1")


class Hosts(darknet.Case):
    def setUp(self):
        super().setUp()
        self.data = darknet.DataSet(self.folder)

    def on_two_hosts(self, *args, slots=1, placement=()):
        words = ["env", f"DDP_HOSTS_SLOTS={slots}", NAMESPACES, "mpirun", *placement]
        return darknet.run(words + darknet.command(*args), self.folder)

    def weights(self):
        names = os.listdir(self.path("backup"))
        found = {}
        for name in names:
            if name.endswith((".weights", ".backup")):
                with open(self.path("backup/" + name), "rb") as f:
                    found[name] = f.read()
            os.remove(self.path("backup/" + name))
        return found

    def check_same_weights(self, *args):
        one_host = self.succeeds(*args, ranks=2)
        expected = self.weights()
        two_hosts = self.on_two_hosts(*args)
        self.assertEqual(two_hosts.code, 0, two_hosts)
        self.assertIn("DDP: 2 ranks on 1 host (", one_host.out, one_host)
        self.assertRegex(two_hosts.out, rf"DDP: 2 ranks on 2 hosts \({HOST}-1 {HOST}-2\), CPU")
        self.assertNotEqual(expected, {})
        self.assertTrue(self.weights() == expected, two_hosts)

    def test_train_a_detector(self):
        self.data.boxes()
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=20))
        self.check_same_weights("detector", "train", *TRAIN)

    def test_train_a_classifier_in_many_buckets(self):
        self.write("tiny.cfg", darknet.classifier_cfg(max_batches=20))
        self.check_same_weights("classifier", "train", *TRAIN, "-ddp_bucket_mb", "0.001",
                                "-ddp_first_bucket_mb", "0.001")

    def test_gradients_of_16_or_8_bits(self):
        """Between hosts they travel so, on one host none does: the same is rounded."""
        self.data.boxes()
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=20))
        for format_ in ("bf16", "fp16", "fp8"):
            self.check_same_weights("detector", "train", *TRAIN, "-ddp_compress", format_)

    def test_exact_is_what_one_process_gives(self):
        """2, 4 and 8 ranks, half of them on each host, against one process."""
        self.data.boxes()
        small = ("-ddp_bucket_mb", "0.001", "-ddp_first_bucket_mb", "0.001")
        dropout = darknet.section("dropout", probability=.2)
        for command, cfg in (("detector", darknet.detector_cfg), ("classifier", darknet.classifier_cfg)):
            self.write("tiny.cfg", cfg(batch=8, subdivisions=8, max_batches=20)
                       .replace("[maxpool]", dropout + "[maxpool]"))
            words = (command, "train", *TRAIN, "-ddp_exact")
            self.succeeds(*words)
            expected = self.weights()
            self.assertNotEqual(expected, {})
            for slots, options in ((1, ()), (2, small), (4, ("-ddp_overlap", "0")),
                                   (4, ("-ddp_bucket_mb", "0.01"))):
                with self.subTest(command=command, slots=slots, options=options):
                    result = self.on_two_hosts(*words, *options, slots=slots)
                    self.assertEqual(result.code, 0, result)
                    self.assertIn(f"DDP: {2 * slots} ranks on 2 hosts (", result.out, result)
                    self.assertTrue(self.weights() == expected, result)

    def test_ranks_are_numbered_host_by_host(self):
        """Also where mpirun deals them out in turn: rank 1 is then the first host's second."""
        self.data.boxes()
        self.write("tiny.cfg", darknet.detector_cfg(batch=4, subdivisions=4, max_batches=4))
        words = ("detector", "train", *TRAIN)
        self.succeeds(*words, ranks=4)
        expected = self.weights()
        self.assertNotEqual(expected, {})
        for schedule, said in (("auto", "2 levels (2 ranks a host in shared memory, then 2 hosts)"), ("direct", "direct")):
            result = self.on_two_hosts(*words, "-ddp_schedule", schedule, slots=2, placement=("--map-by", "node"))
            self.assertEqual(result.code, 0, result)
            self.assertIn(f"\nDDP: sums over ranks: {said}\n", result.out, result)
            self.assertTrue(self.weights() == expected, result)
        os.remove(self.path("images/dog1.png"))
        result = self.on_two_hosts(*words, slots=2, placement=("--map-by", "node"))
        self.check_refused(result, f"darknet[rank 1 @ {HOST}-1]: train.list:2: cannot read images/dog1.png")

    def test_ranks_that_gloo_connects(self):
        """Started one by one, without MPI, and not host by host: rank 1 is then the first host's second."""
        if not darknet.has_gloo():
            self.skipTest("this build has no Gloo")
        self.data.boxes()
        self.write("tiny.cfg", darknet.detector_cfg(batch=4, subdivisions=4, max_batches=4))
        words = ("detector", "train", *TRAIN)
        self.succeeds(*words, ranks=4)
        expected = self.weights()
        self.assertNotEqual(expected, {})
        launch = [[NAMESPACES, "on", host] for host in "1212"]
        for schedule, said in (("auto", "2 levels (2 ranks a host in shared memory, then 2 hosts)"), ("direct", "direct")):
            ranks = darknet.by_hand((*words, "-ddp_schedule", schedule), self.folder, 4, launch)
            for rank, result in enumerate(map(darknet.ended, ranks)):
                self.assertEqual(result.code, 0, result)
                if rank == 0:
                    self.assertRegex(result.out, rf"DDP: 4 ranks on 2 hosts \({HOST}-1 {HOST}-2\), CPU, transport gloo\n")
                    self.assertIn(f"\nDDP: sums over ranks: {said}\n", result.out, result)
            self.assertTrue(self.weights() == expected, schedule)

    def sent(self):
        """Bytes that have left the first host."""
        read = ["ip", "netns", "exec", f"{HOST}-1", "cat", "/proc/net/dev"]
        said = subprocess.run(read, check=True, capture_output=True, text=True).stdout
        return int(re.search(r"eth0:\s*(.*)", said).group(1).split()[8])

    def test_a_host_sends_as_much_as_one_rank(self):
        """Of two hosts half of the gradients each way and back, by its own count and by the network's, however many
        ranks it has; with every rank talking to every other it is as many times that."""
        layer = darknet.section("connected", output=2000, activation="linear")
        self.write("wide.cfg", darknet.net(batch=4, subdivisions=4, width=8, height=8) + layer + layer
                   + darknet.section("connected", output=2, activation="linear") + darknet.section("cost", type="sse"))
        steps, times = 2, (2 + 2) * 3 + 2  # the bench's warm-up and turns,
        for schedule, least in (("auto", 1), ("direct", 2)):
            before = self.sent()
            result = self.on_two_hosts("ddp", "bench", "wide.cfg", "-steps", steps, "-json", "figures", "-ddp_schedule",
                                       schedule, "-ddp_defer_mb", "0", slots=2)
            self.assertEqual(result.code, 0, result)
            with open(self.path("figures"), encoding="ascii") as f:
                figures = json.load(f)
            self.assertGreater(figures["gradient_mb"], 15)
            by_step = (self.sent() - before) / 1e6 / (times + 1 / least)  # and rank 0's parameters, once
            for left in (figures["left_host_mb"], by_step):
                self.assertGreater(left, .98 * least * figures["gradient_mb"], figures)
                self.assertLess(left, 1.05 * least * figures["gradient_mb"], figures)

    def test_an_error_names_its_host(self):
        self.data.boxes()
        self.write("tiny.cfg", darknet.detector_cfg())
        os.remove(self.path("images/dog1.png"))
        result = self.on_two_hosts("detector", "train", *TRAIN)
        self.check_refused(result, f"darknet[rank 1 @ {HOST}-2]: train.list:2: cannot read images/dog1.png")


class OwnHosts(darknet.Case):
    """Two hosts of the test's own, whose network it changes; Gloo connects their ranks."""

    def setUp(self):
        super().setUp()
        if not darknet.has_gloo():
            self.skipTest("this build has no Gloo")
        self.data = darknet.DataSet(self.folder)
        self.data.boxes()
        owner = subprocess.Popen(["sleep", "3600"])
        self.name = f"ddp{owner.pid}"
        self.on_hosts = ("env", f"DDP_HOSTS_ID={owner.pid}", NAMESPACES)
        for clean in (owner.wait, owner.kill, lambda: subprocess.run([*self.on_hosts, "down"], check=True)):
            self.addCleanup(clean)
        subprocess.run([*self.on_hosts, "up"], check=True)

    def ip(self, host, *words):
        subprocess.run(["ip", "-n", f"{self.name}-{host}", *words], check=True)

    def start(self, *options):
        return darknet.by_hand(("detector", "train", *TRAIN, *options), self.folder, 2, [(*self.on_hosts, "on", host) for host in "12"])

    def test_hosts_without_ipv4_between_them(self):
        """Each has a bridge of IPv4 of its own, as containers' are. The watch comes together, too."""
        for host in (1, 2):
            self.ip(host, "addr", "del", f"10.77.0.{host}/24", "dev", "eth0")
            self.ip(host, "addr", "add", f"fd77::{host}/64", "dev", "eth0", "nodad")
            self.ip(host, "link", "add", "docker0", "type", "bridge")
            self.ip(host, "addr", "add", "172.17.0.1/16", "dev", "docker0")
            self.ip(host, "link", "set", "docker0", "up")
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=1000000))
        ranks = self.start("-ddp_timeout", "3")
        self.wait_for("tiny_100.weights", ranks[0])
        ranks[1].send_signal(signal.SIGSTOP)
        result = self.check_refused(darknet.ended(ranks[0]), f"the others wait for rank 1 on {self.name}-2, which is not heard any more")
        self.assertNotIn("cannot reach rank 0", result.err, result)
        darknet.end_group(ranks[1])

    def test_a_host_without_a_network_is_named(self):
        self.write("tiny.cfg", darknet.detector_cfg())
        self.ip(2, "addr", "del", "10.77.0.2/24", "dev", "eth0")
        for result in map(darknet.ended, self.start()):
            self.check_refused(result, f"host {self.name}-2 has no network interface but lo that is up with an address")


HOST = f"ddp{os.getpid()}"


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        made = subprocess.run([NAMESPACES, "up"], check=False)
        if made.returncode:
            sys.exit(made.returncode)
        darknet.main()
    finally:
        subprocess.run([NAMESPACES, "down"], check=False)


if __name__ == "__main__":
    main()
