"""libzmpi_codec.so by ctypes: structures and functions of zmpi_codec.h and zmpi_reader.h, and errors as exceptions."""
import ctypes
import os
from ctypes import POINTER, byref, c_char, c_char_p, c_double, c_int, c_size_t, c_uint, c_uint32, c_uint64, c_void_p

NAME = "libzmpi_codec.so.0"
NO_RECORD = 2**64 - 1


class Error(Exception):
    """What the library says is wrong with a file or a stream. `status` is its name in zmpi_codec.h, such as ERR_CHECKSUM;
    `record` where in the file the damaged record begins, or None."""

    def __init__(self, text, status="", record=None):
        super().__init__(text)
        self.status = status
        self.record = record


class DamageWarning(UserWarning):
    """A file can be read, but was damaged or not closed."""


class Array(ctypes.Structure):
    _fields_ = [("type", c_int), ("extent", c_size_t * 3)]


class Bound(ctypes.Structure):
    _fields_ = [("mode", c_int), ("value", c_double)]


class StreamInfo(ctypes.Structure):
    _fields_ = [("array", Array), ("bound", Bound), ("abs_bound", c_double), ("encoder", c_int), ("tile", c_uint32 * 3),
                ("chunks", c_size_t), ("length", c_size_t), ("decoded_bytes", c_size_t), ("big_endian", c_int),
                ("family", c_int), ("axes", c_uint), ("levels", c_uint), ("lag", c_uint),
                ("books", c_int)]


class CodecOptions(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("encoder", c_int), ("threads", c_int), ("threshold", c_double),
                ("fills", c_int), ("fill", c_double * 2), ("device", c_char_p)]


class ReaderError(ctypes.Structure):
    _fields_ = [("status", c_int), ("system", c_int), ("record", c_uint64), ("text", c_char * 512)]


class ReaderOptions(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("threads", c_int), ("flags", c_uint)]


class ReaderInfo(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("logical_size", c_uint64), ("physical_size", c_uint64), ("records", c_uint64),
                ("containers", c_uint64), ("scanned", c_uint64), ("whole", c_int), ("written", c_int)]


class ReaderRecord(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("kind", c_int), ("offset", c_uint64), ("stored", c_uint64), ("lo", c_uint64),
                ("hi", c_uint64), ("bytes", c_uint64), ("run", c_uint64), ("levels", c_uint), ("count", c_uint64 * 4),
                ("stride", c_uint64 * 4), ("epoch", c_uint64), ("rank", c_uint32), ("status", c_int), ("array", Array),
                ("bound", Bound), ("abs_bound", c_double), ("encoder", c_int), ("chunks", c_uint64), ("big_endian", c_int)]


FUNCTIONS = {
    "zmpi_strerror": (c_char_p, [c_int]),
    "zmpi_version": (c_char_p, []),
    "zmpi_bound_parse": (c_int, [c_char_p, POINTER(Bound)]),
    "zmpi_bound_format": (None, [POINTER(Bound), c_char_p]),
    "zmpi_compress_capacity": (c_size_t, [POINTER(Array)]),
    "zmpi_compress_with": (c_int, [POINTER(CodecOptions), POINTER(Array), POINTER(Bound), c_void_p, c_void_p, c_size_t,
                                   c_void_p, POINTER(c_size_t)]),
    "zmpi_decompress_with": (c_int, [POINTER(CodecOptions), c_void_p, c_size_t, c_void_p, c_size_t]),
    "zmpi_stream_info": (c_int, [c_void_p, c_size_t, POINTER(StreamInfo)]),
    "zmpi_reader_open": (c_int, [c_char_p, POINTER(ReaderOptions), POINTER(c_void_p), POINTER(ReaderError)]),
    "zmpi_reader_open_fd": (c_int, [c_int, c_char_p, POINTER(ReaderOptions), POINTER(c_void_p), POINTER(ReaderError)]),
    "zmpi_reader_close": (None, [c_void_p]),
    "zmpi_reader_info": (c_int, [c_void_p, POINTER(ReaderInfo), POINTER(ReaderError)]),
    "zmpi_reader_record": (c_int, [c_void_p, c_uint64, POINTER(ReaderRecord), POINTER(ReaderError)]),
    "zmpi_reader_read": (c_int, [c_void_p, c_uint64, c_void_p, c_size_t, POINTER(ReaderError)]),
    "zmpi_reader_read_runs": (c_int, [c_void_p, c_void_p, c_size_t, c_void_p, POINTER(ReaderError)]),
    "zmpi_reader_refresh": (c_int, [c_void_p, POINTER(c_int), POINTER(ReaderError)]),
}

STATUS = ("OK ERR_ARG ERR_BOUND ERR_MEMORY ERR_SPACE ERR_FORMAT ERR_VERSION ERR_TRUNCATED ERR_CHECKSUM ERR_CORRUPT ERR_SIZE "
          "ERR_IO ERR_NO_SPACE ERR_DEVICE ERR_UNSUPPORTED").split()
ENCODERS = {"fle": 1, "huffman": 2, "interp": 3}
ENCODER_NAMES = {number: name for name, number in ENCODERS.items()}
# By the numbers of enum zmpi_type: what NumPy and struct call them.
def dtype_name(array, big_endian):
    return (">" if big_endian else "") + DTYPES[array.type]


DTYPES = {1: "f4", 2: "f8", 3: "i4", 4: "i8", 5: "u1"}
FORMATS = {1: "f", 2: "d", 3: "i", 4: "q", 5: "B"}
ITEMSIZE = {1: 4, 2: 8, 3: 4, 4: 8, 5: 1}


def candidates():
    """Where the library may be: ZMPI_CODEC_LIBRARY, beside this package as CMake built or installed it, the loader's
    folders."""
    named = os.environ.get("ZMPI_CODEC_LIBRARY")
    if named:
        return [named]
    try:
        from ._where import LIBDIR  # written by CMake
    except ImportError:
        return [NAME]
    return [os.path.join(os.path.dirname(os.path.abspath(__file__)), LIBDIR, NAME), NAME]


def load():
    why = None
    for path in candidates():
        try:
            library = ctypes.CDLL(path)
            break
        except OSError as error:
            why = why or error
    else:
        raise ImportError(f"zmpi: {NAME} is not found ({why}): set ZMPI_CODEC_LIBRARY to its path")
    for name, (result, arguments) in FUNCTIONS.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ImportError(f"zmpi: {path} is of another version: it has no {name}") from None
        function.restype = result
        function.argtypes = arguments
    return library


lib = load()


def version():
    """The library's version."""
    return lib.zmpi_version().decode()


def exception(status, text, system=0, record=NO_RECORD):
    """The exception for a status, with the library's message."""
    name = STATUS[status] if status < len(STATUS) else str(status)
    if system:
        return OSError(system, text)
    if name in ("ERR_ARG", "ERR_BOUND"):
        return ValueError(text)
    if name == "ERR_MEMORY":
        return MemoryError(text)
    return Error(text, name, None if record == NO_RECORD else record)


def check(status, what):
    """For functions without a message of their own."""
    if status:
        raise exception(status, f"{what}: {lib.zmpi_strerror(status).decode()}")


def check_reader(status, error):
    if status:
        raise exception(status, error.text.decode(errors="replace"), error.system, error.record)


def bound_text(bound):
    text = ctypes.create_string_buffer(40)
    lib.zmpi_bound_format(byref(bound), text)
    return text.value.decode()


def extents(array):
    """As NumPy has them: without leading ones."""
    shape = list(array.extent)
    while len(shape) > 1 and shape[0] == 1:
        shape.pop(0)
    return tuple(shape)
