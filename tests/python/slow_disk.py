#!/usr/bin/python3
"""A file system in user space (FUSE) that is as slow as it is told to be: slow_disk.py FOLDER MOUNT CONTROL mounts FOLDER's files at
MOUNT, and ends when MOUNT is unmounted. CONTROL is a file of lines "CALL SECONDS PATTERN", read at each call: CALL (open, create, read,
write, flush, fsync, rename, or * for any) of a file whose name fits PATTERN takes that long, less where the line goes meanwhile. Exit status 77:
there is no FUSE here. By Debian's Python, which has its packages."""
import errno
import fnmatch
import os
import signal
import sys
import time

try:
    import fusepy
except (ImportError, OSError) as e:
    print(f"no FUSE: {e}: Debian's package python3-fusepy has it", file=sys.stderr)
    sys.exit(77)
EXITING = 4  # of a process's flags, as the kernel has them


def is_killed(thread):
    """Is a thread about to be ended? Then it is let go, as NFS does; Linux itself would have it wait for an answer."""
    try:
        with open(f"/proc/{thread}/status", encoding="ascii", errors="replace") as f:
            waiting = dict(line.split(":", 1) for line in f if ":" in line)
        with open(f"/proc/{thread}/stat", encoding="ascii", errors="replace") as f:
            flags = int(f.read().rpartition(")")[2].split()[6])
    except OSError:
        return True
    return bool(flags & EXITING) or any(int(waiting[key], 16) >> signal.SIGKILL - 1 & 1 for key in ("SigPnd", "ShdPnd"))


class SlowDisk(fusepy.Operations):
    def __init__(self, folder, control):
        self.folder, self.control = folder, control

    def delay_s(self, call, path):
        try:
            with open(self.control, encoding="ascii") as f:
                lines = [line.split() for line in f if line.strip()]
        except FileNotFoundError:
            return 0
        return max((float(seconds) for name, seconds, pattern in lines
                    if name in ("*", call) and fnmatch.fnmatch(os.path.basename(path), pattern)), default=0)

    def __call__(self, call, path, *args):
        began = time.monotonic()
        caller = fusepy.fuse_get_context()[2]
        while time.monotonic() - began < self.delay_s(call, path):
            if is_killed(caller):
                raise fusepy.FuseOSError(errno.EINTR)
            time.sleep(.01)
        if not hasattr(self, call):
            raise fusepy.FuseOSError(errno.ENOSYS)
        return getattr(self, call)(self.folder + path, *args)

    def access(self, path, mode):
        if not os.access(path, mode):
            raise fusepy.FuseOSError(errno.EACCES)

    def getattr(self, path, _=None):
        found = os.lstat(path)
        return {key: getattr(found, key) for key in ("st_atime", "st_ctime", "st_gid", "st_mode", "st_mtime", "st_nlink", "st_size", "st_uid")}

    def readdir(self, path, _):
        return [".", "..", *os.listdir(path)]

    def chmod(self, path, mode):
        return os.chmod(path, mode)

    def chown(self, path, user, group):
        return os.chown(path, user, group)

    def mkdir(self, path, mode):
        return os.mkdir(path, mode)

    def rmdir(self, path):
        return os.rmdir(path)

    def unlink(self, path):
        return os.unlink(path)

    def rename(self, path, to):
        return os.rename(path, self.folder + to)

    def link(self, path, source):
        return os.link(self.folder + source, path)

    def utimens(self, path, times=None):
        return os.utime(path, times)

    def truncate(self, path, length, _=None):
        return os.truncate(path, length)

    def statfs(self, path):
        found = os.statvfs(path)
        return {key: getattr(found, key) for key in ("f_bavail", "f_bfree", "f_blocks", "f_bsize", "f_favail", "f_ffree", "f_files", "f_flag",
                                                     "f_frsize", "f_namemax")}

    def open(self, _path, flags):
        return os.open(_path, flags)

    def create(self, path, mode, _=None):
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)

    def read(self, _path, size, offset, fd):
        return os.pread(fd, size, offset)

    def write(self, _path, data, offset, fd):
        return os.pwrite(fd, data, offset)

    def flush(self, *_):
        return 0

    def fsync(self, _path, _data_only, fd):
        return os.fsync(fd)

    def release(self, _path, fd):
        return os.close(fd)


if __name__ == "__main__":
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        print("no FUSE: /dev/fuse cannot be opened", file=sys.stderr)
        sys.exit(77)
    if len(sys.argv) != 4:
        sys.exit("\n".join(__doc__.splitlines()))
    fusepy.FUSE(SlowDisk(sys.argv[1], sys.argv[3]), sys.argv[2], foreground=True, nothreads=False, big_writes=True)
