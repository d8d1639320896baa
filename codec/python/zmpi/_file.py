"""Bytes and records of a file."""
import os
import threading
import warnings
from ctypes import byref, c_int, c_void_p, sizeof

from . import _library
from ._library import lib

PLAIN, ENHANCE = 1, 2


class File:
    """A file for reading, as bytes: a container, or any other file as it is (plain=False: an error). `path` may be a
    descriptor, which stays the caller's. enhance: values as the network in the file, if there is one, brings them nearer to the
    original ones. May be used by several threads."""

    def __init__(self, path, threads=0, plain=True, enhance=False):
        self._lock = threading.RLock()
        self._handle = None
        options = _library.ReaderOptions(sizeof(_library.ReaderOptions), threads,
                                         (PLAIN if plain else 0) | (ENHANCE if enhance else 0))
        handle, error = c_void_p(), _library.ReaderError()
        if isinstance(path, int):
            self.path = f"descriptor {path}"
            status = lib.zmpi_reader_open_fd(path, self.path.encode(), byref(options), byref(handle), byref(error))
        else:
            self.path = os.fspath(path)
            name = os.fsencode(path)
            if b"\0" in name:
                raise ValueError("embedded null byte")
            status = lib.zmpi_reader_open(name, byref(options), byref(handle), byref(error))
        _library.check_reader(status, error)
        self._handle = handle
        self._remark(error, 3)

    def _remark(self, error, level):
        if error.text:
            warnings.warn(error.text.decode(errors="replace"), _library.DamageWarning, stacklevel=level + 1)

    def _call(self, function, *arguments):
        """Nobody closes the file meanwhile."""
        error = _library.ReaderError()
        with self._lock:
            if self._handle is None:
                raise ValueError(f"{self.path}: is closed")
            status = function(self._handle, *arguments, byref(error))
        _library.check_reader(status, error)
        return error

    def close(self):
        with self._lock:
            handle, self._handle = self._handle, None
        if handle is not None:
            lib.zmpi_reader_close(handle)

    @property
    def closed(self):
        return self._handle is None

    def __del__(self):
        if getattr(self, "_handle", None) is not None:
            self.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _info(self):
        info = _library.ReaderInfo(sizeof(_library.ReaderInfo))
        self._call(lib.zmpi_reader_info, byref(info))
        return info

    @property
    def size(self):
        """Logical bytes: of what the program wrote."""
        return self._info().logical_size

    def read_into(self, offset, address, size):
        """To memory that the caller keeps."""
        self._call(lib.zmpi_reader_read, offset, address, size)

    def read_runs_into(self, runs, count, address):
        """runs: the address of `count` pairs of offset and length, of 8 bytes each."""
        self._call(lib.zmpi_reader_read_runs, runs, count, address)

    def read(self, offset=0, size=None):
        """Logical bytes; all from `offset` on without a size, and no more than there are."""
        if offset < 0 or (size is not None and size < 0):
            raise ValueError("offset and size must not be negative")
        left = max(self.size - offset, 0)
        size = left if size is None else min(size, left)
        data = bytearray(size)
        if size:
            self.read_into(offset, (_library.c_char * size).from_buffer(data), size)
        return bytes(data)

    def refresh(self):
        """Take in what a program that writes the file has added; was there anything?"""
        changed = c_int()
        self._remark(self._call(lib.zmpi_reader_refresh, byref(changed)), 2)
        return bool(changed.value)

    def record(self, number):
        """What a write call added, as a dictionary; of two records that cover the same bytes the later one counts."""
        r = _library.ReaderRecord(sizeof(_library.ReaderRecord))
        if not 0 <= number < 2**64:
            raise ValueError(f"{self.path}: has no record {number}")
        self._call(lib.zmpi_reader_record, number, byref(r))
        out = {"kind": "data" if r.kind == 1 else "size", "offset": r.offset, "stored": r.stored, "lo": r.lo, "hi": r.hi,
               "bytes": r.bytes, "epoch": r.epoch, "rank": r.rank}
        if 0 < r.levels <= 4:
            out.update(run=r.run, count=tuple(r.count[:r.levels]), stride=tuple(r.stride[:r.levels]))
        elif r.levels:
            out["list"] = True
        if r.status:
            out["error"] = lib.zmpi_strerror(r.status).decode()
        elif r.kind == 1:
            out.update(dtype=_library.dtype_name(r.array, r.big_endian), shape=_library.extents(r.array),
                       bound=_library.bound_text(r.bound), abs_bound=r.abs_bound,
                       encoder=_library.ENCODER_NAMES[r.encoder], chunks=r.chunks)
        return out

    def info(self, records=True):
        """Sizes, and the records in the order in which they win."""
        i = self._info()
        out = {"path": self.path, "container": i.containers > 0, "containers": i.containers, "logical_size": i.logical_size,
               "physical_size": i.physical_size, "whole": bool(i.whole), "written": bool(i.written), "scanned": i.scanned}
        out["records"] = [self.record(k) for k in range(i.records)] if records else i.records
        return out

    def __repr__(self):
        return f"<zmpi.File {self.path!r}{', closed' if self.closed else ''}>"


def info(path, records=True):
    """What a file holds, as a dictionary; records=False: only how many there are."""
    with File(path) as file:
        return file.info(records)
