"""A codec for Zarr and others that use numcodecs:

    from zmpi.numcodecs import Zmpi
    zarr.open("p.zarr", mode="w", shape=a.shape, dtype=a.dtype, compressor=Zmpi("rel=1e-3", "huffman"))

It registers itself by the id "zmpi" when it is imported. Floats are lossy, all other types exact. A relative bound is one of
each chunk's range.
"""
from numcodecs.abc import Codec
from numcodecs.compat import ensure_ndarray, ndarray_copy
from numcodecs.registry import register_codec

from ._codec import compress, decompress, options, parse_bound


class Zmpi(Codec):
    """bound, encoder, threads and threshold are those of zmpi.compress."""

    codec_id = "zmpi"

    def __init__(self, bound, encoder="fle", threads=1, threshold=0.0):
        parse_bound(bound)
        options(encoder, threads, threshold)
        self.bound = bound
        self.encoder = encoder
        self.threads = threads
        self.threshold = threshold

    def encode(self, buf):
        array = ensure_ndarray(buf)
        if not array.dtype.isnative:
            raise ValueError(f"zmpi: {array.dtype} is of the other byte order: convert it first")
        if array.dtype.kind in "mM":
            array = array.view("i8")
        if array.flags.f_contiguous and not array.flags.c_contiguous:
            array = array.T  # as it lies in memory, which is how it comes back
        return compress(array, self.bound, self.encoder, self.threads, self.threshold)

    def decode(self, buf, out=None):
        return ndarray_copy(decompress(ensure_ndarray(buf), threads=self.threads), out)


register_codec(Zmpi)
