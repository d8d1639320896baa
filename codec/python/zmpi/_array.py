"""A file as an array, of which slices are read when they are asked for."""
import math
import operator

from ._file import File

RUNS_MOST = 1 << 18  # handed to the library at once
GAP_MOST = 4096      # bytes between elements of a slice with a step that are read along


def numpy():
    try:
        import numpy as module
    except ImportError:
        raise ImportError("zmpi.open and arrays need NumPy; zmpi.File reads bytes without it") from None
    return module


def open(path, dtype=None, shape=None, threads=0, plain=True, enhance=False):
    """The file's data as an array (zmpi.Array), slices of which are read and decoded when they are asked for.

    dtype: NumPy's; None: what the file's records say if they agree, else bytes. shape: one extent may be -1; None: that of
    the only record, else one row. threads: that decode; 0: one for each CPU. plain=False: an error if it is no container.
    enhance: values by the network that zmpi enhance has put into the file; as decoded where there is none.
    """
    np = numpy()
    file = File(path, threads, plain, enhance)
    try:
        return Array(file, dtype=np.dtype(guess_dtype(file) if dtype is None else dtype), shape=shape)
    except BaseException:
        file.close()
        raise


def some_records(file):
    """At most 100 data records of all."""
    count = file.info(records=False)["records"]
    step = max(1, math.ceil(count / 100))
    records = (file.record(k) for k in range(0, count, step))
    return count, [r for r in records if r["kind"] == "data"]


def guess_dtype(file):
    _, records = some_records(file)
    dtypes = {r.get("dtype", "u1") for r in records}
    dtype = dtypes.pop() if len(dtypes) == 1 else "u1"
    return dtype if file.size % int(dtype[-1]) == 0 else "u1"


def guess_shape(file, dtype):
    count, records = some_records(file)
    if count == 1 and records and records[0]["lo"] == 0 and records[0]["hi"] == file.size == records[0]["bytes"]:
        r = records[0]
        if r.get("dtype") == dtype.str.lstrip("<|"):
            return r["shape"]
    return (-1,)


def whole_shape(shape, count, path):
    """Without -1, and not larger than the file."""
    shape = tuple(operator.index(n) for n in (shape if hasattr(shape, "__iter__") else (shape,)))
    if any(n < -1 for n in shape) or shape.count(-1) > 1:
        raise ValueError(f"shape {shape}: extents are not negative, but for one -1")
    known = math.prod(n for n in shape if n != -1)
    if -1 in shape:
        shape = tuple((count // known if known else 0) if n == -1 else n for n in shape)
    if math.prod(shape) > count:
        raise ValueError(f"{path}: has {count} elements, shape {shape} is {math.prod(shape)}")
    return shape


class Array:
    """Like a NumPy array that is read from the file slice by slice: a[3, :, 10:20], numpy.asarray(a), len(a)."""

    def __init__(self, file, dtype, shape=None):
        if dtype.hasobject or dtype.itemsize == 0:
            raise ValueError(f"dtype {dtype}: objects and types without a size are not in files")
        self.file = file
        self.dtype = dtype
        self._asked = guess_shape(file, dtype) if shape is None else shape
        self.shape = whole_shape(self._asked, file.size // dtype.itemsize, file.path)

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def size(self):
        return math.prod(self.shape)

    @property
    def nbytes(self):
        return self.size * self.dtype.itemsize

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of an array without extents")
        return self.shape[0]

    def __iter__(self):
        return (self[k] for k in range(len(self)))

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError("a file's data are always copied")
        data = self[...]
        return data if dtype is None else data.astype(dtype, copy=False)

    def __getitem__(self, key):
        return read_slice(self, key)

    def refresh(self):
        """Take in what a program that writes the file has added; an extent of -1 grows along. Was there anything?"""
        changed = self.file.refresh()
        self.shape = whole_shape(self._asked, self.file.size // self.dtype.itemsize, self.file.path)
        return changed

    def close(self):
        self.file.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        return f"<zmpi.Array {self.file.path!r}, dtype {self.dtype}, shape {self.shape}{', closed' if self.file.closed else ''}>"


# ---- slices ----


def per_axis(key, shape):
    """A slice or an integer for each axis, and where None adds one."""
    key = key if isinstance(key, tuple) else (key,)
    given = sum(k is not None and k is not Ellipsis for k in key)
    if sum(k is Ellipsis for k in key) > 1:
        raise IndexError("an index can have one ellipsis")
    if given > len(shape):
        raise IndexError(f"{given} indices for {len(shape)} axes")
    if not any(k is Ellipsis for k in key):
        key += (Ellipsis,)
    out, at = [], 0
    for k in key:
        if k is None:
            out.append(None)
        elif k is Ellipsis:
            out.extend([slice(None)] * (len(shape) - given))
            at += len(shape) - given
        else:
            out.append(k if isinstance(k, slice) else integer(k, shape[at], at))
            at += 1
    return out


def integer(k, extent, axis):
    try:
        if isinstance(k, bool):
            raise TypeError
        i = operator.index(k)
    except TypeError:
        raise IndexError("indices are integers, slices, ... and None: read a slice, then index that") from None
    if not -extent <= i < extent:
        raise IndexError(f"index {i} is out of bounds for axis {axis} with size {extent}")
    return i % extent


class Axis:
    """The indices of one axis, increasing: first, first + step, ..., `count` of them."""

    def __init__(self, k, extent):
        start, stop, step = k.indices(extent) if isinstance(k, slice) else (k, k + 1, 1)
        self.count = len(range(start, stop, step))
        self.turned = step < 0
        self.step = abs(step)
        self.first = start + (self.count - 1) * step if self.turned and self.count else start


def read_slice(array, key):
    np = numpy()
    keys = per_axis(key, array.shape)
    axes = [Axis(k, n) for k, n in zip([k for k in keys if k is not None], array.shape)]
    out = read_axes(np, array, axes)
    turn = tuple(slice(None, None, -1 if a.turned else 1) for a in axes)
    if any(a.turned for a in axes):
        out = np.ascontiguousarray(out[turn])
    if any(not isinstance(k, slice) for k in keys):
        out = out.reshape([n for n in result_shape(keys, axes)])
    return out if out.ndim or any(isinstance(k, slice) for k in keys) or Ellipsis in key_items(key) else out[()]


def key_items(key):
    return [k for k in (key if isinstance(key, tuple) else (key,)) if k is Ellipsis]


def result_shape(keys, axes):
    axes = iter(axes)
    for k in keys:
        if k is None:
            yield 1
            continue
        axis = next(axes)
        if isinstance(k, slice):
            yield axis.count


def read_axes(np, array, axes):
    """The elements at all combinations of the axes' indices."""
    shape, itemsize = array.shape, array.dtype.itemsize
    counts = [a.count for a in axes]
    if 0 in counts:
        if array.file.closed:
            array.file.size  # which says so
        return np.empty(counts, array.dtype)
    stride = [itemsize] * len(shape)
    for i in range(len(shape) - 2, -1, -1):
        stride[i] = stride[i + 1] * shape[i + 1]
    inner = len(axes)  # axes from here on are read whole
    while inner and axes[inner - 1].count == shape[inner - 1]:
        inner -= 1
    length, start, row, step = math.prod(shape[inner:]) * itemsize, 0, counts[inner:], 1
    outer = axes[:inner]
    last = outer[-1] if outer else None
    if last and (last.step - 1) * stride[inner - 1] <= GAP_MOST:  # one stretch of it is read along
        covered, step = (last.count - 1) * last.step + 1, last.step
        length, start, row = covered * stride[inner - 1], last.first * stride[inner - 1], [covered] + row
        outer = outer[:-1]
    out = np.empty([a.count for a in outer] + row, array.dtype)
    read_runs(np, array.file, out, start, length, [(a, stride[i]) for i, a in enumerate(outer)])
    if step > 1:
        out = np.ascontiguousarray(out[tuple([slice(None)] * len(outer)) + (slice(None, None, step),)])
    return out


def read_runs(np, file, out, start, length, outer):
    """Runs of `length` bytes, one for each combination of the outer axes' indices, to `out`."""
    count, address = math.prod(a.count for a, _ in outer), out.ctypes.data
    start += sum(a.first * stride for a, stride in outer)
    if count == 1:
        file.read_into(start, address, length)
        return
    for begin in range(0, count, RUNS_MOST):
        number = np.arange(begin, min(begin + RUNS_MOST, count), dtype=np.uint64)
        runs = np.empty((len(number), 2), np.uint64)
        runs[:, 0] = start
        runs[:, 1] = length
        for axis, stride in reversed(outer):
            number, at = np.divmod(number, np.uint64(axis.count))
            runs[:, 0] += at * np.uint64(axis.step * stride)
        file.read_runs_into(runs.ctypes.data, len(runs), address + begin * length)
