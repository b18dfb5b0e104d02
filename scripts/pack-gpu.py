#!/usr/bin/env python3
"""Pack a build for GPUs for a machine to which nothing can be fetched: the folder .gpu of this checkout (at most 24 MiB, ignored by
git) has all that the calls of scripts/test-gpu need, programs, Open MPI, scripts and cfgs, in one archive, and `go`, which unpacks
it there.

Usage: scripts/pack-gpu.py [BUILD] [-DNAME=VALUE...]        BUILD (build-pack) is made, or made anew where sources have changed
       scripts/pack-gpu.py --check BUILD                    only say whether what was built there would start there

A build that is not there is configured without Gloo, for the H200 (sm_90), with -D... besides: -DDARKNET_SOURCE_DIR=DIR where
Darknet cannot be fetched. -DDDP_EMULATED=ON -DDDP_CUDA=OFF packs a build with the emulated device: a try of all calls without a
GPU, see tests/gpu/dry.py. Carry .gpu there, anywhere, and begin one call after the other:

    sh .gpu/go 1 ... sh .gpu/go 5

Refused is a program or library that needs a library (readelf -d) which the pack does not have, nor CUDA, cuDNN, NCCL or glibc.
Exit status: 0, 1 with what is missing or too large."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PACKED = os.path.join(ROOT, ".gpu")
MOST_MIB = 24

# Kernels are in five programs: compressed as small as nvcc can they leave room.
OPTIONS = ("-DDDP_CUDA=ON", "-DDDP_CUDA_ARCHITECTURES=90", "-DDDP_WITH_GLOO=OFF", "-DCMAKE_CUDA_FLAGS=--compress-mode=size")
PROGRAMS = {
    "gpu": ("darknet", "tests/gpu_compare", "tests/gpu_bf16", "tests/gpu_parity", "tests/gpu_sums", "tests/gpu_compress_*",
            "tests/gpu_heads", "tests/libgpu_fail.so", "tests/libgpu_trace.so"),
    "emulated": ("darknet-emulated", "tests/emulated_compare", "tests/emulated_bf16", "tests/emulated_parity", "tests/emulated_sums",
                 "tests/emulated_compress_*", "tests/emulated_heads"),
}
# What scripts/test-gpu starts, and what that reads.
SCRIPTS = ("scripts/test-gpu", "scripts/bench-gpu.py", "scripts/bench_torch.py", "tests/gpu", "tests/python", "tests/run", "cfg",
           "darknet-ddp/framework/layers/activations_forks.h", "darknet-ddp/framework/layers/forks_layers.def")

# Debian's: Open MPI, and libraries of programs, which only those take along that need them.
MPI = ("openmpi-bin", "openmpi-common", "libopenmpi3", "libhwloc15", "libevent-core-2.1-7", "libevent-pthreads-2.1-7", "libpmix2",
       "libmunge2", "libudev1")
LIBRARIES = ("libdnnl2", "ocl-icd-libopencl1", "libgomp1", "libxxhash0", "libjpeg62-turbo", "libpng16-16")
# Of those packages no headers, texts, tools, nor what Fortran, Java and OpenSHMEM want.
LEFT_OUT = re.compile(r"/bin/(?!orterun$|orted$)|/doc/|/man/|/lintian/|/include/|/bug/|\.a$|\.h$|\.mod$|lib(mpi_(cxx|java|mpifh|usempi\w*)|oshmem)\.|/vtrace|mca_(sshmem|scoll|spml|atomic|memheap)_")

# What is there without the pack: glibc; CUDA's libraries, cuDNN and NCCL; and what those themselves need.
THERE = re.compile(r"(ld-linux-x86-64|lib(c|m|mvec|dl|rt|pthread|util|resolv))\.so\.\d+$"
                   r"|lib(cudart|cublas|cublasLt|curand|cupti|cudnn|nccl|cuda)\.so\.\d+$"
                   r"|libstdc\+\+\.so\.6$|libgcc_s\.so\.1$|libz\.so\.1$")


def fail(words):
    sys.exit(f"pack-gpu: {words}")


def run(*command, **options):
    """Its standard output."""
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, **options).stdout


def kind_of(build):
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as f:
        return "emulated" if "DDP_EMULATED:BOOL=ON" in f.read() else "gpu"


def make(build, options):
    if not os.path.exists(os.path.join(build, "CMakeCache.txt")):
        run("cmake", "-S", ROOT, "-B", build, "-G", "Ninja", *OPTIONS, *options)
    run("cmake", "--build", build, "--target", *(("emulated_programs", "darknet-emulated") if kind_of(build) == "emulated" else
                                                 ("gpu_programs", "darknet")), stdin=subprocess.DEVNULL)


def needed(path):
    """What an ELF file needs; nothing where it is none."""
    with open(path, "rb") as f:
        if f.read(4) != b"\x7fELF":
            return []
    return re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", path))


def files_of(package):
    """Paths from /, as Debian has installed them here."""
    try:
        listed = run("dpkg", "-L", package, stderr=subprocess.DEVNULL).splitlines()
    except (subprocess.CalledProcessError, FileNotFoundError):
        return []
    return [path for path in listed if os.path.lexists(path) and not LEFT_OUT.search(path)
            and (os.path.islink(path) or not os.path.isdir(path))]


def copy(path, top):
    """A file or link of this machine to the same place under top; usr/lib for /lib."""
    place = re.sub(r"^/(lib|bin)/", r"/usr/\1/", path)
    to = top + place
    os.makedirs(os.path.dirname(to), exist_ok=True)
    if not os.path.lexists(to):
        shutil.copy2(path, to, follow_symlinks=False)
    # /etc/alternatives is no part of a package
    if os.path.islink(to) and not os.path.exists(to):
        os.remove(to)
        shutil.copy2(os.path.realpath(path), to)


def elf_files(top):
    return [os.path.join(folder, name) for folder, _, names in os.walk(top) for name in names
            if not os.path.islink(os.path.join(folder, name))]


def without(top, paths):
    """What paths need that is neither under top nor THERE: {path: names}."""
    names = {name for _, _, files in os.walk(top) for name in files}
    missing = {path: [name for name in needed(path) if name not in names and not THERE.match(name)] for path in paths}
    return {path: found for path, found in missing.items() if found}


def add_libraries(top):
    """The packages of LIBRARIES that something under top needs, and those that they need."""
    for _ in LIBRARIES:
        wanted = {name for found in without(top, elf_files(top)).values() for name in found}
        for package in LIBRARIES:
            files = files_of(package)
            if wanted & {os.path.basename(path) for path in files}:
                for path in files:
                    if ".so" in path:
                        copy(path, top + "/mpi")


def drop_fabrics(top):
    """Open MPI's components for networks whose libraries are not packed: it does without."""
    component = re.compile(r"/openmpi3/mca_|/libmca_common_|/pmix2?/.*mca_")
    while found := [path for path in without(top, elf_files(top)) if component.search(path)]:
        for path in found:
            os.remove(path)
        for folder, _, names in os.walk(top):
            for path in (os.path.join(folder, name) for name in names):
                if not os.path.exists(path):  # a link to it
                    os.remove(path)


def fill(top, build, kind):
    for program in PROGRAMS[kind]:
        sources = glob.glob(os.path.join(build, program))
        if not sources:
            fail(f"{os.path.join(build, program)} was not built" + (" (it wants CUDA 13)" if "trace" in program else ""))
        for source in sources:
            target = os.path.join(top, "build", os.path.relpath(source, build))
            os.makedirs(os.path.dirname(target), exist_ok=True)
            run("strip", "-o", target, source)
    shutil.copytree(os.path.join(build, "darknet-src", "cfg"), os.path.join(top, "build", "darknet-src", "cfg"))
    for name in SCRIPTS:
        source, target = os.path.join(ROOT, name), os.path.join(top, "root", name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if os.path.isdir(source):
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, target)
    for package in MPI:
        files = files_of(package)
        if not files:
            fail(f"package {package} is not installed here: scripts/setup installs Open MPI, Debian 12's")
        for path in files:
            copy(path, top + "/mpi")
    add_libraries(top)
    drop_fabrics(top)


def check(top):
    """Fails where anything packed would not start."""
    for path, names in sorted(without(top, elf_files(top)).items()):
        advice = "; build without Gloo: -DDDP_WITH_GLOO=OFF" if any("gloo" in name for name in names) else ""
        fail(f"{os.path.relpath(path, top)} needs {', '.join(names)}, which is neither packed nor of CUDA, cuDNN, NCCL or "
             f"glibc{advice}")
    for name in ("tests/gpu/layers.py", "tests/gpu/parity.py", "tests/gpu/kernel_profile.py"):  # each reads other files of the checkout
        began = subprocess.run([os.path.join(top, "root", name), "--help"], text=True, capture_output=True, check=False,
                               env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
        if began.returncode:
            fail(f"{name} does not begin without files that are not packed: {began.stderr.strip().splitlines()[-1]}")


def write(top, kind):
    shutil.rmtree(PACKED, ignore_errors=True)
    os.mkdir(PACKED)
    with tarfile.open(os.path.join(PACKED, "pack.tar.gz"), "w:gz", compresslevel=9) as archive:
        for name in sorted(os.listdir(top)):
            archive.add(os.path.join(top, name), name)
    shutil.copy2(os.path.join(ROOT, "tests/gpu/go"), PACKED)
    mib = sum(os.path.getsize(os.path.join(PACKED, name)) for name in os.listdir(PACKED)) / 2**20
    print(f"pack-gpu: {PACKED} has {mib:.1f} MiB, {kind}")
    if mib > MOST_MIB:
        fail(f"more than {MOST_MIB} MiB")


def main():
    words = sys.argv[1:]
    if any(word in ("-h", "--help") for word in words):
        print(__doc__)
        return
    options, only_check = [word for word in words if word.startswith("-D")], "--check" in words
    folders = [word for word in words if not word.startswith("-")]
    if len(options) + len(folders) + only_check < len(words) or len(folders) > 1 or (only_check and not folders):
        sys.exit(__doc__)
    build = os.path.abspath(folders[0] if folders else os.path.join(ROOT, "build-pack"))
    try:
        if not only_check:
            make(build, options)
        with tempfile.TemporaryDirectory() as top:
            fill(top, build, kind_of(build))
            check(top)
            if not only_check:
                write(top, kind_of(build))
    except subprocess.CalledProcessError as error:
        fail(f"{' '.join(error.cmd[:3])} failed:\n{error.stdout}")


if __name__ == "__main__":
    main()
