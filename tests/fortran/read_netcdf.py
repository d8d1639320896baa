#!/usr/bin/env python3
"""A netCDF-4 file as Python's readers see it: within BOUND of the plain one, and what the bound does not concern the same.

    read_netcdf.py PLAIN OTHER BOUND
"""
import sys

import h5netcdf  # noqa: F401 (xarray's engine)
import netCDF4
import numpy as np
import xarray

plain, other, bound = sys.argv[1], sys.argv[2], float(sys.argv[3])


def distance(a, b):
    a, b = np.asarray(a, "f8"), np.asarray(b, "f8")
    assert a.shape == b.shape
    return np.max(np.abs(a - b), initial=0)


with netCDF4.Dataset(plain) as a, netCDF4.Dataset(other) as b:
    assert list(a.variables) == list(b.variables)
    assert 0 < distance(a["th"][:], b["th"][:]) <= bound
    assert np.array_equal(a["time"][:], b["time"][:]) and a["th"].ncattrs() == b["th"].ncattrs()
for engine in "netcdf4", "h5netcdf":
    with xarray.open_dataset(plain, engine=engine) as a, xarray.open_dataset(other, engine=engine) as b:
        for name in a.variables:
            assert distance(a[name], b[name]) <= bound, (engine, name)
        assert 0 < distance(a["qv"][-1, 2], b["qv"][-1, 2]) <= bound
