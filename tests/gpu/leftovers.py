#!/usr/bin/env python3
"""`within.py` (beside this) leaves no process behind, however its command or its caller ends; and limits of test-gpu's calls are within
their budget."""
import os
import signal
import subprocess
import sys
import time
import unittest
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
WITHIN = os.path.join(HERE, "within.py")
# A process in a session of its own, its parent gone, and one that does not listen; each says that it is there.
ORPHAN = "setsid sh -c 'echo there; sleep 60' &"
DEAF = "setsid sh -c 'trap \"\" TERM; echo there; sleep 60; sleep 60' &"


def marked(mark):
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/environ", "rb") as f:
                if mark.encode() in f.read():
                    found.append(int(name))
        except OSError:
            continue
    return found


class Leftovers(unittest.TestCase):
    def setUp(self):
        self.mark = str(uuid.uuid4())
        self.addCleanup(self.end_all)

    def end_all(self):
        for pid in marked(self.mark):
            os.kill(pid, signal.SIGKILL)

    def start(self, *words):
        return subprocess.Popen(words, env={**os.environ, "LEFTOVERS": self.mark}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, text=True)

    def all_ended(self):
        limit = time.monotonic() + 30
        while marked(self.mark):
            self.assertLess(time.monotonic(), limit, marked(self.mark))
            time.sleep(.02)

    def there(self, process):
        self.assertEqual(process.stdout.readline(), "there\n")

    def ended(self, process, status):
        self.assertEqual(process.wait(30), status)
        self.assertEqual(marked(self.mark), [])
        process.stdout.close()

    def test_its_status_is_the_commands(self):
        self.ended(self.start(WITHIN, "30", "sh", "-c", "exit 7"), 7)
        self.ended(self.start(WITHIN, "30", "sh", "-c", "kill -9 $$"), 128 + 9)

    def test_what_the_command_leaves_behind(self):
        self.ended(self.start(WITHIN, "30", "sh", "-c", f"{ORPHAN} {ORPHAN} exit 3"), 3)

    def test_at_its_limit(self):
        self.ended(self.start(WITHIN, "0.5", "sh", "-c", f"{ORPHAN} sleep 60"), 124)

    def test_what_does_not_listen(self):
        process = self.start(WITHIN, "30", "sh", "-c", f"{DEAF} trap '' TERM; while :; do sleep 60; done")
        self.there(process)
        process.terminate()
        self.ended(process, 143)

    def test_where_its_caller_is_killed(self):
        process = self.start("sh", "-c", f"{WITHIN} 60 sh -c \"{ORPHAN.replace(chr(34), '')} sleep 60\"; true")
        self.there(process)
        process.kill()
        process.wait()
        process.stdout.close()
        self.all_ended()

    def test_limits(self):
        script = os.path.join(HERE, "..", "..", "scripts", "test-gpu")
        done = subprocess.run([script, "--limits"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(done.stdout.count("\ncall "), 4)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
