"""Arrays to streams and back, in memory."""
import ctypes
import math
from ctypes import byref, c_size_t, sizeof

from . import _library
from ._library import lib

# By struct's codes and NumPy's. Complex numbers are two floats, everything else bytes, which are exact.
TYPES = {"f": 1, "d": 2, "i": 3, "I": 3, "l": 4, "L": 4, "q": 4, "Q": 4, "F": 1, "D": 2, "Zf": 1, "Zd": 2}


def numpy():
    try:
        import numpy as module
    except ImportError:
        return None
    return module


def options(encoder, threads, threshold, fill=(), device=None):
    fill = [float(value) for value in (fill if isinstance(fill, (list, tuple)) else [fill])]
    if len(fill) > 2:
        raise ValueError(f"fill {fill}: at most two values")
    if encoder not in _library.ENCODERS:
        raise ValueError(f"encoder {encoder!r}: fle, huffman or interp")
    chosen = _library.CodecOptions(sizeof(_library.CodecOptions), _library.ENCODERS[encoder], threads, threshold, len(fill))
    chosen.fill[:] = (fill + [0.0, 0.0])[:2]
    chosen.device = device.encode() if device else None
    return chosen


def parse_bound(text):
    bound = _library.Bound()
    _library.check(lib.zmpi_bound_parse(str(text).encode(), byref(bound)), f"bound {text!r}")
    return bound


def plain_memory(data):
    """Its elements one behind the other, in this machine's byte order."""
    np = numpy()
    if np is not None and not isinstance(data, (bytes, bytearray, memoryview)):
        data = np.asarray(data)
        if data.dtype.hasobject:
            raise ValueError(f"dtype {data.dtype}: objects cannot be compressed")
        return np.ascontiguousarray(data, data.dtype.newbyteorder("="))
    view = memoryview(data)
    return view if view.c_contiguous else memoryview(view.tobytes()).cast(view.format, view.shape)


def describe(code, itemsize, shape):
    """Type, and at most three extents: the slowest ones become one."""
    kind = TYPES.get(code, 5)
    if kind != 5 and itemsize % _library.ITEMSIZE[kind]:
        kind = 5
    shape = [1, 1] + (list(shape) or [1])
    if kind == 5:
        shape = [1, 1, itemsize * math.prod(shape)]
    elif code[0] in "ZFD":
        shape[-1] *= 2
    array = _library.Array(kind)
    array.extent[:] = [math.prod(shape[:-2])] + shape[-2:]
    return array


def address(view, size):
    """Of memory that `view` keeps and that is only read."""
    np = numpy()
    if not size:
        return None
    if np is not None:
        return np.frombuffer(view, np.uint8).ctypes.data
    if not view.readonly:
        return ctypes.addressof(ctypes.c_char.from_buffer(view.cast("B")))
    data = view.obj if isinstance(view.obj, bytes) and len(view.obj) == size else view.tobytes()
    pointer = ctypes.c_char_p(data)  # which keeps it
    return ctypes.cast(pointer, ctypes.c_void_p)


def compress(data, bound, encoder="fle", threads=0, threshold=0.0, fill=(), device=None):
    """An array to a stream (bytes), each value within the bound: "abs=V", "rel=V", "pw_rel=V", "psnr=dB", "ratio=R" or
    "lossless". Floats and complex numbers are lossy, all other types exact.

    encoder: fle (fast), huffman, interp (smallest). threads: 0: one for each CPU. threshold: values of this size and more
    are kept exactly, and have no part in rel and psnr; nor have the values of `fill`, up to two. device: "auto", or a name
    (zmpi options device).
    """
    data = plain_memory(data)
    if isinstance(data, memoryview):
        array, source = describe(data.format.lstrip("@="), data.itemsize, data.shape), address(data, data.nbytes)
    else:
        array, source = describe(data.dtype.char, data.itemsize, data.shape), data.ctypes.data
    size = c_size_t()
    chosen, parsed = options(encoder, threads, threshold, fill, device), parse_bound(bound)
    capacity = lib.zmpi_compress_capacity(byref(array))
    if capacity == 0:
        raise ValueError("the array is too large")
    np = numpy()
    stream = bytearray(capacity) if np is None else np.empty(capacity, np.uint8)
    out = (ctypes.c_char * capacity).from_buffer(stream)
    status = lib.zmpi_compress_with(byref(chosen), byref(array), byref(parsed), None, out, capacity,
                                    source, byref(size))
    del out
    _library.check(status, "zmpi.compress")
    return bytes(memoryview(stream)[:size.value])


def parse(stream):
    view = memoryview(stream).cast("B")
    info = _library.StreamInfo()
    status = lib.zmpi_stream_info(address(view, len(view)), len(view), byref(info))
    _library.check(status, "zmpi stream")
    return view, info


def stream_info(stream):
    """What a stream says of itself, as a dictionary."""
    _, info = parse(stream)
    return {"dtype": _library.dtype_name(info.array, info.big_endian), "shape": _library.extents(info.array),
            "bound": _library.bound_text(info.bound), "abs_bound": info.abs_bound,
            "encoder": _library.ENCODER_NAMES[info.encoder], "tile": tuple(info.tile), "chunks": info.chunks,
            "length": info.length, "decoded_bytes": info.decoded_bytes}


def decompress(stream, dtype=None, shape=None, threads=0):
    """The array of a stream: a NumPy array, or without NumPy a memoryview. A stream knows floats and integers of 4 and 8
    bytes and up to three extents, of which leading ones are dropped: dtype and shape say what else they were."""
    view, info = parse(stream)
    chosen = options("fle", threads, 0.0)
    np = numpy()
    size = info.decoded_bytes
    if np is None:
        if dtype is not None:
            raise ImportError("dtype needs NumPy")
        out = bytearray(size)
        target = (ctypes.c_char * size).from_buffer(out)
        result = memoryview(out)
    else:
        out = np.empty(size, np.uint8)
        target = out.ctypes.data
        result = None
    status = lib.zmpi_decompress_with(byref(chosen), target, size, address(view, len(view)), len(view))
    _library.check(status, "zmpi.decompress")
    if np is None:
        return result.cast(_library.FORMATS[info.array.type], shape or _library.extents(info.array)) if size else result
    out = out.view(_library.dtype_name(info.array, info.big_endian) if dtype is None else dtype)
    return out.reshape(shape if shape is not None else _library.extents(info.array) if dtype is None else (-1,))
