"""The faults that scripts/faults.py provokes in a small run: for each what it does to the run, what the job must print, and how it is mended."""
from faults.disks import DiskGone, DiskSlow, ListHangs, LockHangs
from faults.files import (DiskFull, DiskFullForAWhile, DiskReadOnly, Fifo, FolderGone, LabelBad, PictureCut, PictureGone)
from faults.hosts import CableOut, CableShort, HostKilled, HostKilledLeftOut, HostLeftOut, HostOfRank0Killed, LinkCrawls, LinkSlow
from faults.numbers import FlippedBit, FlippedBitOfFour, NotANumber
from faults.others import Besieged, Straggler
from faults.processes import (Clock, ClockBackAndForth, Crashed, Killed, LeavesEarly, MpirunKilled, OutOfMemory, OutputClosed, Stopped)
from faults.starts import (CfgOverflows, HostHangs, HostRefuses, LabelHangs, LabelOfNulls, ListOfNulls, NameWithEscapes,
                           PictureOverflows)
from faults.unlike import (OtherBuild, OtherCfg, OtherLabel, OtherList, OtherOption, OtherProcessor, OtherWeights)


def restarted(fault):
    """The same with -ddp_max_restarts: the job goes on by itself."""

    class Restarted(fault):
        starts = ("-ddp_ranks", "2", "-ddp_max_restarts", "1")
        goes_on = True
        recovers = r"restart 1 of 1, 2 ranks, from the last checkpoint"

    return Restarted


# In the order of the table.
FAULTS = {
    "SIGKILL of a rank": Killed, "SIGSEGV of a rank": Crashed, "SIGSTOP of a rank": Stopped, "exit(0) of a rank": LeavesEarly,
    "a rank out of memory": OutOfMemory, "mpirun killed": MpirunKilled,
    "cable out for 3 s, 2 hosts": CableShort, "cable out for ever, 2 hosts": CableOut,
    "a host killed, 2 hosts": HostKilled,
    "link of 64 kbit/s for 6 s, 2 hosts": LinkSlow, "link of 1 kbit/s for ever, 2 hosts": LinkCrawls,
    "a rank with another cfg": OtherCfg, "a rank with another list": OtherList, "a rank with another label file": OtherLabel,
    "a rank with other weights": OtherWeights, "a rank with another option": OtherOption, "a rank of another build": OtherBuild,
    "a rank on another processor": OtherProcessor,
    "loader on a FIFO": Fifo, "picture deleted": PictureGone, "picture cut off": PictureCut, "label made bad": LabelBad,
    "disk full": DiskFull, "disk full for a while, -ddp_on_save_error continue": DiskFullForAWhile, "disk read-only": DiskReadOnly,
    "backup folder moved away": FolderGone, "disk slow under saves": DiskSlow, "disk that does not answer": DiskGone,
    "NaN in a rank's weights": NotANumber, "a flipped bit in a rank's weights": FlippedBit,
    "a flipped bit in one of 4 ranks": FlippedBitOfFour,
    "list that hangs at the start": ListHangs, "label file that hangs at the start": LabelHangs,
    "lock file that hangs at the start": LockHangs,
    "label file of NUL bytes": LabelOfNulls, "list of NUL bytes": ListOfNulls, "cfg of more values than an int counts": CfgOverflows,
    "JPEG whose Huffman table overflows": PictureOverflows, "escape sequences in a file's name": NameWithEscapes,
    "a host that ssh hangs at": HostHangs, "a host that refuses": HostRefuses,
    "strangers at each port of Gloo's ranks": Besieged, "a rank at 2 % of a core": Straggler,
    "clock set back an hour": Clock, "clock set back and forth by days": ClockBackAndForth, "output closed": OutputClosed,
    "SIGKILL, -ddp_max_restarts": restarted(Killed), "SIGSEGV, -ddp_max_restarts": restarted(Crashed),
    "SIGSTOP, -ddp_max_restarts": restarted(Stopped), "exit(0), -ddp_max_restarts": restarted(LeavesEarly),
    "out of memory, -ddp_max_restarts": restarted(OutOfMemory), "mpirun killed, -ddp_max_restarts": restarted(MpirunKilled),
    "NaN, -ddp_max_restarts": restarted(NotANumber), "a flipped bit, -ddp_max_restarts": restarted(FlippedBit),
    "cable out for ever, -ddp_max_restarts, 2 hosts": HostLeftOut,
    "a host killed, -ddp_max_restarts, 2 hosts": HostKilledLeftOut,
    "the host of rank 0 killed, -ddp_max_restarts, 3 hosts": HostOfRank0Killed,
}
