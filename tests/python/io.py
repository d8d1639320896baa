#!/usr/bin/python3
"""MPI-IO and MPI_Gather from Python: mpi4py loads its MPI long after the process has started.

Every file is written twice: NAME.z is a container, NAME.bin is not (ZMPI_FILES). What is read from both must agree.
Exit status 77 without mpi4py.
"""
import json
import math
import os
import sys
from array import array

try:
    from mpi4py import MPI
except ImportError as error:
    print(f"left out: {error}")
    sys.exit(77)

COMM = MPI.COMM_WORLD
RANK, RANKS = COMM.rank, COMM.size
ROWS, COLUMNS, BOUND = 300, 200, 1e-3


def field(rank):
    return array("f", (math.sin(0.01 * x) + rank + 0.002 * y for y in range(ROWS) for x in range(COLUMNS)))


def close_to(is_, should, bound):
    return len(is_) == len(should) and all(abs(a - b) <= bound for a, b in zip(is_, should))


def is_container(path):
    with open(path, "rb") as file:
        return file.read(5)[1:] == b"ZMPI"


def check(condition, what):
    if not condition:
        print(f"FAIL: rank {RANK}: {what}", flush=True)
        COMM.Abort(1)


def test_file(path, lossy):
    """A column block of a global array through a subarray view, then explicit offsets."""
    mine, read = field(RANK), array("f", bytes(4 * ROWS * COLUMNS))
    view = MPI.FLOAT.Create_subarray([ROWS, COLUMNS * RANKS], [ROWS, COLUMNS], [0, COLUMNS * RANK]).Commit()
    file = MPI.File.Open(COMM, path, MPI.MODE_CREATE | MPI.MODE_RDWR)
    file.Set_view(0, MPI.FLOAT, view)
    status = MPI.Status()
    file.Write_all([mine, MPI.FLOAT], status)
    check(status.Get_count(MPI.FLOAT) == len(mine), f"{path}: count after Write_all")
    file.Close()
    COMM.Barrier()
    size = 4 * ROWS * COLUMNS * RANKS
    check(is_container(path) == lossy, f"{path}: container?")
    check(os.path.getsize(path) < size / 2 if lossy else os.path.getsize(path) == size, f"{path}: size on disk")

    file = MPI.File.Open(COMM, path, MPI.MODE_RDWR)
    check(file.Get_size() == size, f"{path}: Get_size says {file.Get_size()}")
    file.Set_view(0, MPI.FLOAT, view)
    file.Read_all([read, MPI.FLOAT])
    check(close_to(read, mine, BOUND), f"{path}: Read_all")
    check((read != mine) == lossy, f"{path}: the bound was used")
    file.Set_view(0, MPI.BYTE, MPI.BYTE)

    words, back = array("i", range(RANK, 5000 + RANK)), array("i", bytes(20000))
    file.Iwrite_at(size + 20000 * RANK, [words, MPI.INT]).Wait()
    file.Iread_at(size + 20000 * RANK, [back, MPI.INT]).Wait()
    check(back == words, f"{path}: Iread_at")
    file.Close()
    view.Free()


def test_gather():
    everything = array("f", bytes(4 * ROWS * COLUMNS * RANKS)) if RANK == 0 else None
    COMM.Gather([field(RANK), MPI.FLOAT], [everything, MPI.FLOAT] if RANK == 0 else None)
    if RANK == 0:
        check(close_to(everything, [x for rank in range(RANKS) for x in field(rank)], BOUND), "Gather")


def main():
    for path, lossy in (("python.bin", False), ("python.z", True)):
        if RANK == 0 and os.path.exists(path):
            os.unlink(path)
        COMM.Barrier()
        test_file(path, lossy)
    test_gather()
    MPI.Finalize()
    if RANK == 0:
        with open("report.json", encoding="utf-8") as file:
            report = json.load(file)
        assert [os.path.basename(entry["path"]) for entry in report["files"]] == ["python.z"] * 2, report
        assert RANKS == 1 or report["collectives"], report  # one rank sends nothing


main()
