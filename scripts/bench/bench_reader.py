#!/usr/bin/env python3
"""How fast files are read without MPI: by the library, by Python's slices, through zmpi mount.

    bench_reader.py [--build build] [--size BYTES] [--rounds N] FIELD      a field NAME_NZxNYxNX.f32 or .f64
    bench_reader.py [--build build] --random CONTAINER                     64 bytes at random, microseconds each

The field is repeated to --size (256M) in memory (/dev/shm) and compressed, rel=1e-3, by fle and by huffman; two threads. Rates
are in GB of numbers per second, by the clock and by seconds of processor (mount: of its process and of what reads), the best and
the mean of the rounds, which take turns; behind each how many times as fast as the library. NumPy is needed.

A container of a million records: mpirun -x LD_PRELOAD=build/lib/libzmpi.so -x ZMPI_ERROR_BOUND=abs=0.01 -x ZMPI_EXACT_BELOW=0
build/bin/small_io write small.bin random smooth 1000000 1024 atomic.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

THREADS = 2


def processor(*pids):
    """Seconds of this process and of others."""
    return time.process_time() + sum(ticks(pid) for pid in pids)


def ticks(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Rates:
    """The best of each way by the clock, the mean by processor; ways take turns."""

    def __init__(self, nbytes):
        self.nbytes, self.seconds, self.cpu = nbytes, {}, {}

    def time(self, name, call, *pids):
        clock, cpu = time.perf_counter(), processor(*pids)
        call()
        cpu = processor(*pids) - cpu
        clock = time.perf_counter() - clock
        self.seconds[name] = min(clock, self.seconds.get(name, clock))
        self.cpu.setdefault(name, []).append(cpu)

    def show(self, base):
        cpu = {name: statistics.mean(seconds) for name, seconds in self.cpu.items()}
        for name, seconds in self.seconds.items():
            print(f"  {name:34} {self.nbytes / seconds / 1e9:6.2f} GB/s {self.seconds[base] / seconds:6.2f}"
                  f"   by processor {self.nbytes / cpu[name] / 1e9:6.2f} {cpu[base] / cpu[name]:6.2f}")


def bench_rate(tool, field, codec, size):
    out = subprocess.run([tool, "bench", "--json", "-e", "rel=1e-3", "--codec", codec, "--threads", str(THREADS), "--size", str(size),
                          field], check=True, capture_output=True, text=True).stdout
    return json.loads(out)["decompress_gbps"]


def read_all(path, buffer, step):
    """As cp does, in steps, past Python's own buffers."""
    view, at = memoryview(buffer).cast("B"), 0
    with open(path, "rb", buffering=0) as f:
        while got := f.readinto(view[at:at + step]):
            at += got


def read_new(array, nbytes):
    out = np.empty(array.shape, array.dtype)
    array.file.read_into(0, out.ctypes.data, nbytes)


def large_reads(zmpi, build, folder, path, shape, dtype, rounds):
    nbytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
    out = np.zeros(shape, dtype)
    out[...] = 1  # pages that are there: in some virtual machines new ones take longer than decoding
    r = Rates(nbytes)
    array = zmpi.open(path, dtype=dtype, shape=shape, threads=THREADS)
    point = folder / "mount"
    point.mkdir(exist_ok=True)
    environment = dict(os.environ, ZMPI_THREADS=str(THREADS))
    mounted = shutil.which("fusermount3") and os.access("/dev/fuse", os.W_OK)
    for _ in range(rounds):
        r.time("library", lambda: array.file.read_into(0, out.ctypes.data, nbytes))
        r.time("library, to new memory", lambda: read_new(array, nbytes))
        r.time("Python, a[...]", lambda: array[...])
        if mounted:  # anew each time: the kernel keeps what it has read
            with subprocess.Popen([build / "bin/zmpi", "mount", "-f", path.parent, point], env=environment) as mount:
                while not os.path.ismount(point):
                    time.sleep(0.01)
                r.time("mount, steps of 16 MiB", lambda: read_all(point / path.name, out, 16 << 20), mount.pid)
                subprocess.run(["fusermount3", "-u", point], check=True)
        if mounted:
            r.time("the same of a plain file", lambda: read_all(folder / "raw", out, 16 << 20))
    r.show("library")
    return nbytes / r.seconds["library"] / 1e9


def slices(zmpi, path, shape, dtype, rounds):
    """Python's slices beside the same runs, made before, by the library alone."""
    array = zmpi.open(path, dtype=dtype, shape=shape, threads=THREADS)
    item, (_, ny, nx) = np.dtype(dtype).itemsize, shape
    k = shape[0] // 2
    part = [("plane a[k]", np.s_[k], np.array([[k * ny * nx * item, ny * nx * item]])),
            ("column a[:, j, i]", np.s_[:, 5, 7], np.array([[(z * ny * nx + 5 * nx + 7) * item, item] for z in range(shape[0])])),
            ("box a[:, 3:30, 4:40]", np.s_[:, 3:30, 4:40],
             np.array([[((z * ny + y) * nx + 4) * item, 36 * item] for z in range(shape[0]) for y in range(3, 30)]))]
    for name, index, runs in part:
        runs = runs.astype(np.uint64)
        out = np.empty(int(runs[:, 1].sum()) // item, dtype)
        r = Rates(out.nbytes)
        calls = range(20 if len(runs) == 1 else 1)
        address = runs.ctypes.data, len(runs), out.ctypes.data
        for _ in range(3 * rounds):
            r.time("library", lambda: [array.file.read_runs_into(*address) for _ in calls])
            r.time("Python", lambda: [array[index] is None for _ in calls])
        assert np.array_equal(array[index].ravel(), out)
        print(f"  {name:34} library {1e6 * r.seconds['library'] / len(calls):9.0f} us, "
              f"Python {1e6 * r.seconds['Python'] / len(calls):9.0f} us: "
              f"{r.seconds['library'] / r.seconds['Python']:.2f} of its speed")


def random_reads(zmpi, path, count=20000):
    began, cpu = time.perf_counter(), time.process_time()
    file = zmpi.open(path, dtype="u1", threads=1).file
    opened = time.perf_counter() - began, time.process_time() - cpu
    out, size = np.empty(64, "u1"), zmpi.info(path, records=False)["logical_size"]
    places = np.random.default_rng(1).integers(0, size - 64, count)
    file.read_into(0, out.ctypes.data, 64)  # the index of what is asked for is read once
    began, cpu = time.perf_counter(), time.process_time()
    for at in places:
        file.read_into(int(at), out.ctypes.data, 64)
    clock, cpu = time.perf_counter() - began, time.process_time() - cpu
    print(f"open {1e3 * opened[0]:.1f} ms, {1e3 * opened[1]:.1f} of processor; 64 bytes at random: {1e6 * clock / count:.1f} us each, {1e6 * cpu / count:.1f} us of processor")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--size", type=int, default=256 << 20)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--random", type=pathlib.Path)
    parser.add_argument("field", type=pathlib.Path, nargs="?")
    o = parser.parse_args()
    build = o.build.resolve()
    sys.path.insert(0, str(build / "python"))
    import zmpi
    if o.random:
        return random_reads(zmpi, o.random)
    if not o.field:
        parser.error("a field, or --random CONTAINER")
    dtype, extents = "f" + str(int(o.field.suffix[2:]) // 8), [int(n) for n in o.field.stem.rsplit("_", 1)[1].split("x")]
    field = np.fromfile(o.field, dtype).reshape(-1, *extents[-2:])
    repeats = max(1, o.size // field.nbytes)
    shape = (field.shape[0] * repeats, *field.shape[1:])
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        folder = pathlib.Path(name)
        (folder / "files").mkdir()
        with open(folder / "raw", "wb") as raw:
            for _ in range(repeats):
                field.tofile(raw)
        for codec in "fle", "huffman":
            path = folder / "files" / f"{codec}.z"
            subprocess.run([build / "bin/zmpi", "compress", "-t", o.field.suffix[1:], "-d", "x".join(map(str, shape)), "-e", "rel=1e-3",
                            "--codec", codec, folder / "raw", path], check=True, stdout=subprocess.DEVNULL)
            print(f"{codec}, {o.field.stem}, {THREADS} threads")
            rate = large_reads(zmpi, build, folder, path, shape, dtype, o.rounds)
            bench = bench_rate(build / "bin/zmpi", o.field, codec, field.nbytes * repeats)
            print(f"  zmpi bench, decompression          {bench:6.2f} GB/s; the library reads at {rate / bench:.2f} of that")
            slices(zmpi, path, shape, dtype, o.rounds)


main()
