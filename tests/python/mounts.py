"""A file system that is as slow as a test wants it (slow_disk.py)."""
import os
import subprocess
import time

SLOW_DISK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "slow_disk.py")


class NoFuse(Exception):
    """There is none here."""


class SlowDisk:
    """What is in `folder`, at `mounted`. Both are there already."""

    def __init__(self, folder, mounted):
        self.mounted, self.control = mounted, folder + ".control"
        self.server = subprocess.Popen([SLOW_DISK, folder, mounted, self.control])
        while not os.path.ismount(mounted):
            if self.server.poll() is not None:
                raise NoFuse
            time.sleep(.05)

    def delay(self, *lines):
        """Each "CALL SECONDS PATTERN", in place of those before."""
        with open(self.control + ".new", "w", encoding="ascii") as f:
            f.write("".join(line + "\n" for line in lines))
        os.replace(self.control + ".new", self.control)

    def unmount(self):
        self.delay()
        subprocess.run(["umount", "-l", self.mounted], check=True)
        self.server.kill()  # whoever still waits for it gets an error
        self.server.wait()
