"""Read the record that gpu/trace.c, or the emulated device, wrote of the kernels that ran on a GPU."""
import os


def injected(build, prefix):
    """What the environment of a program needs for that: rank 0 writes to prefix + "0"."""
    if os.path.exists(os.path.join(build, "darknet-emulated")):
        return {"EMULATED_KERNELS": prefix}
    return {"GPU_TRACE": prefix, "CUDA_INJECTION64_PATH": os.path.abspath(os.path.join(build, "tests/libgpu_trace.so"))}


def kernels(path):
    """(start, end, stream, name) in nanoseconds, by start."""
    with open(path, encoding="utf-8", errors="replace") as f:
        rows = (line.rstrip("\n").split(" ", 3) for line in f)
        return sorted((int(start), int(end), int(stream), name) for stream, start, end, name in rows)


def merged(spans):
    """Spans of time that overlap, or touch, as one; by start."""
    found = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1][1] = max(found[-1][1], end)
        else:
            found.append([start, end])
    return found
