"""A backend for xarray: a file as a dataset of one variable, whose slices are read when they are asked for.

    xarray.open_dataset("p.bin", engine="zmpi", dtype="f4", shape=(-1, 512, 512), dims=("t", "y", "x"))

dtype and shape are those of zmpi.open, and guessed by it where they are not given. Where the package is installed with its
metadata xarray finds the engine "zmpi"; else give it the class: engine=zmpi.xarray.Backend.
"""
import os

import numpy as np
from xarray import Dataset, Variable
from xarray.backends import BackendArray, BackendEntrypoint
from xarray.core import indexing

from ._array import open as open_array, some_records

MAGIC = b"\x89ZMPI\r\n\x1a"


class Lazy(BackendArray):
    """Slices and integers are the file's; what else there is xarray makes of these."""

    def __init__(self, array):
        self.array = array
        self.shape = array.shape
        self.dtype = array.dtype

    def __getitem__(self, key):
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.BASIC, self._read)

    def _read(self, key):
        return np.asarray(self.array[key])


class Backend(BackendEntrypoint):
    description = "Files that MPI programs write through zmpi"
    open_dataset_parameters = ("filename_or_obj", "drop_variables", "dtype", "shape", "dims", "name", "threads")

    def open_dataset(self, filename_or_obj, *, drop_variables=None, dtype=None, shape=None, dims=None, name="values", threads=0):
        array = open_array(filename_or_obj, dtype=dtype, shape=shape, threads=threads)
        dims = tuple(dims) if dims else tuple(f"dim_{i}" for i in range(array.ndim))
        attributes = {"source": os.fspath(filename_or_obj)}
        bounds = {record.get("bound") for record in some_records(array.file)[1]}
        if len(bounds) == 1 and None not in bounds:
            attributes["zmpi_error_bound"] = bounds.pop()
        variable = Variable(dims, indexing.LazilyIndexedArray(Lazy(array)), attributes)
        data = Dataset({} if name in (drop_variables or ()) else {name: variable})
        data.set_close(array.close)
        return data

    def guess_can_open(self, filename_or_obj):
        try:
            with open(filename_or_obj, "rb") as file:
                return file.read(len(MAGIC)) == MAGIC
        except (OSError, TypeError):
            return False
