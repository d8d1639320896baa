"""Error-bounded compression of arrays, and the files that MPI programs write through zmpi.

    import zmpi

    a = zmpi.open("pressure.bin", dtype="f4", shape=(-1, 512, 512))
    plane = a[3, :, 10:20]                      decodes only what it needs
    zmpi.info("pressure.bin")["logical_size"]

    stream = zmpi.compress(array, "rel=1e-3", encoder="huffman")
    array = zmpi.decompress(stream)

Arrays are NumPy's. Without NumPy zmpi.File reads bytes, and compress and decompress take and give memoryviews.
zmpi.numcodecs has a codec for Zarr, zmpi.xarray a backend of xarray.
"""
from ._array import Array, open
from ._codec import compress, decompress, stream_info
from ._file import File, info
from ._library import DamageWarning, Error, version

__version__ = "0.1.0"
__all__ = ["Array", "DamageWarning", "Error", "File", "compress", "decompress", "info", "open", "stream_info", "version"]
