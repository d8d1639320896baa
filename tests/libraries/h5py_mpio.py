#!/usr/bin/env python3
"""A parallel h5py program: groups, contiguous and chunked datasets, complex, integers, attributes, a dataset that grows.

    h5py_mpio.py write PATH
    h5py_mpio.py read PATH BOUND    floats are within the bound, and not exact unless it is 0; all else is as it was
"""
import sys

import h5py
import numpy as np
from mpi4py import MPI

COMM = MPI.COMM_WORLD
NZ, NY, NX = 16, 60, 120
MINE = slice(COMM.rank * NZ, (COMM.rank + 1) * NZ)
STEPS = 3


def field(step, dtype):
    z, y, x = np.meshgrid(np.arange(NZ) + COMM.rank * NZ, np.arange(NY), np.arange(NX), indexing="ij")
    return (280 + 20 * np.sin(0.1 * z + 0.3 * step) * np.cos(0.07 * y) + 3 * np.sin(0.05 * x)).astype(dtype)


def write(path):
    shape = (NZ * COMM.size, NY, NX)
    with h5py.File(path, "w", driver="mpio", comm=COMM) as f:
        f.attrs["title"] = "made by h5py"
        group = f.create_group("fields")
        rho = group.create_dataset("rho", shape, "f4")
        group["rho"].attrs["scale"] = np.arange(8.0)
        p = group.create_dataset("p", shape, "f8", chunks=(8, NY, NX))
        psi = f.create_dataset("psi", shape, "c16")
        names = f.create_dataset("names", shape[:1], "i8")
        grown = f.create_dataset("grown", (0,) + shape, "f4", maxshape=(None,) + shape, chunks=(1, 8, NY, NX))
        with rho.collective:
            rho[MINE] = field(0, "f4")
        p[MINE] = field(1, "f8")
        psi[MINE] = field(0, "f8") + 1j * field(1, "f8")
        names[MINE] = np.arange(NZ) + COMM.rank * NZ
        for step in range(STEPS):
            grown.resize(step + 1, axis=0)
            with grown.collective:
                grown[step, MINE] = field(step, "f4")
            f.flush()


def check(name, data, should, bound):
    error = np.max(np.abs(data - should))
    assert error <= bound and (error > 0) == (bound > 0), f"{name}: error {error}, bound {bound}"


def read(path, bound):
    with h5py.File(path, "r", driver="mpio", comm=COMM) as f:
        assert f.attrs["title"] == "made by h5py"
        assert f["fields/rho"].attrs["scale"].tolist() == list(range(8))
        check("rho", f["fields/rho"][MINE], field(0, "f4"), bound)
        check("p", f["fields/p"][MINE], field(1, "f8"), bound)
        check("psi", f["psi"][MINE], field(0, "f8") + 1j * field(1, "f8"), bound * 2**0.5)
        assert (f["names"][MINE] == np.arange(NZ) + COMM.rank * NZ).all()
        for step in range(STEPS):
            check("grown", f["grown"][step, MINE], field(step, "f4"), bound)


if sys.argv[1] == "write":
    write(sys.argv[2])
else:
    read(sys.argv[2], float(sys.argv[3]))
