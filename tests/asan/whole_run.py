#!/usr/bin/env python3
"""A whole run on 2 ranks, to the end of its processes, with $DARKNET built with AddressSanitizer: trained, with checkpoints and
validation, and resumed. No invalid access, no undefined behaviour, and nothing that our code or Darknet's has asked for and lost, but
what the train command holds until the process ends. Open MPI, hwloc and oneDNN lose memory of their own, so that each report has
stacks; that they name our lines is checked on those. What is held to the end may be reported or not: an old pointer on the stack hides it."""
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import darknet  # noqa: E402

# Status 0 after a report, or mpirun would end the other rank before it has written its own. Whole stacks: through libraries without frame pointers the quick way loses its way, and with it whose the memory is.
ASAN = "exitcode=0:fast_unwind_on_malloc=0:malloc_context_size=40:detect_leaks=1"
OF_THE_C_LIBRARY = re.compile(r"libsanitizer/|libasan|libubsan|/libc\.so|^(libio|sysdeps|stdio-common|string|stdlib|elf|nptl|debug|malloc|posix)/")
OF_OURS = re.compile(r"[^(].*(darknet-src|darknet-ddp)/.*:\d+")  # with its line: "(program+0x...)" may be of a library unloaded since
HELD_TO_THE_END = {"load_network", "read_data_cfg", "ddp_terminal_replace_streams"}  # the network, the .data file's values, standard output
LIMIT_S = 600  # on a busy machine
TRAIN = ("detector", "train", "train.data", "tiny.cfg", "-ddp", "-ddp_validate", "2")


def frames(leak):
    """(function, place) of a leak's stack, from where memory was asked for, less those of the C library."""
    found = re.findall(r"(?m)^ +#\d+ \S+ +(?:in (\S+) )?(.*)$", leak)
    return [(function, place) for function, place in found if not OF_THE_C_LIBRARY.search(place)]


def is_ours(leak):
    stack = frames(leak)
    return bool(stack) and OF_OURS.match(stack[0][1]) and not HELD_TO_THE_END & {f for f, _ in stack}


class WholeRun(darknet.Case):
    def check_reports(self, reports):
        for path in reports:
            with open(path, encoding="utf-8", errors="replace") as f:
                text = f.read()
            self.assertEqual(set(re.findall(r"(?m)^==\d+==ERROR: (\w+)", text)) | set(re.findall(r"runtime error: .*", text)),
                             {"LeakSanitizer"}, text[:8000])
            leaks = [part for part in text.split("\n\n") if part.lstrip().startswith("Direct leak")]
            self.assertEqual([leak for leak in leaks if is_ours(leak)], [])
            self.assertTrue(any(OF_OURS.match(place) for leak in leaks for _, place in frames(leak)), "stacks cannot be read: " + text[:8000])

    def test_it_loses_nothing(self):
        data = darknet.DataSet(self.folder)
        data.boxes()
        data.data("train.data", valid="train.list")
        for batches, words in ((4, ()), (6, ("-resume_force",))):
            self.write("tiny.cfg", darknet.detector_cfg(max_batches=batches))
            result = darknet.run(["mpirun", "-np", "2", "sh", "-c", 'exec "$@" 2>said.$OMPI_COMM_WORLD_RANK', "sh", darknet.PROGRAM, *TRAIN,
                                  *words], self.folder, LIMIT_S, {"ASAN_OPTIONS": ASAN})
            self.assertEqual(result.code, 0, result)
            self.assertIn(f"DDP: trained to batch {batches} of {batches}", result.out, result)
            self.check_reports(self.path(f"said.{rank}") for rank in (0, 1))


if __name__ == "__main__":
    darknet.main()
