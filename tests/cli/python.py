#!/usr/bin/env python3
"""python.py - the Python package: slices are NumPy's on the plain data, streams keep their bounds, damage and closed files are
exceptions with the library's message. What needs NumPy, numcodecs, Zarr or xarray is left out without them, which is said.
"""
import array
import itertools
import os
import random
import subprocess
import sys
import threading
import warnings

TOP = os.environ["ZMPI_TEST_SOURCE"]
BUILD = os.path.dirname(os.environ["ZMPI_TEST_BIN"])
ZMPI = os.path.join(os.environ["ZMPI_TEST_BIN"], "zmpi")
DEBIAN = "/usr/bin/python3"  # for which its packages are

try:
    import numpy as np
except ImportError:
    np = None
    if sys.executable != DEBIAN and subprocess.run([DEBIAN, "-c", "import numpy"], capture_output=True).returncode == 0:
        os.execv(DEBIAN, [DEBIAN, *sys.argv])

sys.path.insert(0, os.path.join(BUILD, "python"))
import zmpi  # noqa: E402

rng = random.Random(1)


def refuses(what, expected, call, *arguments, **named):
    """The exception, whose text has `what` in it."""
    try:
        call(*arguments, **named)
    except expected as error:
        assert type(error) is expected or expected is OSError, f"{type(error)} for {what}"
        assert what in str(error), f"{what!r} is not in {str(error)!r}"
        return error
    raise AssertionError(f"no {expected.__name__}: {what}")


def compress_file(raw, out, *options):
    subprocess.run([ZMPI, "compress", *options, raw, out], check=True, stdout=subprocess.DEVNULL)


def flip(path, at):
    with open(path, "r+b") as f:
        f.seek(at)
        byte = f.read(1)[0]
        f.seek(at)
        f.write(bytes([byte ^ 1]))


# ---- without NumPy ----


def test_without_numpy():
    code = """
import sys
sys.modules["numpy"] = None
import array, zmpi
a = array.array("d", [i * 0.5 for i in range(3000)])
for encoder in "fle", "huffman", "interp":
    back = zmpi.decompress(zmpi.compress(a, "abs=1e-3", encoder))
    assert back.format == "d" and len(back) == 3000 and all(abs(x - y) <= 1e-3 for x, y in zip(a, back))
assert bytes(zmpi.decompress(zmpi.compress(b"", "lossless"))) == b""
assert bytes(zmpi.decompress(zmpi.compress(b"any bytes", "abs=1"))) == b"any bytes"
assert bytes(zmpi.decompress(zmpi.compress(bytearray(b"any bytes"), "abs=1"))) == b"any bytes"
assert zmpi.decompress(zmpi.compress(memoryview(a)[::2], "lossless"))[7] == a[14]
with zmpi.File("small.z") as f:
    assert f.read(4, 8) == open("small.raw", "rb").read()[4:12] and f.size == 40000
try:
    zmpi.open("small.z")
    sys.exit("zmpi.open without NumPy")
except ImportError as error:
    assert "NumPy" in str(error)
"""
    array.array("f", [i % 100 for i in range(10000)]).tofile(open("small.raw", "wb"))
    compress_file("small.raw", "small.z", "-t", "f32", "-e", "lossless")
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": os.path.join(BUILD, "python")})


def test_files_and_errors():
    assert zmpi.version() == zmpi.__version__
    assert f'version = "{zmpi.version()}"' in open(os.path.join(TOP, "codec/python/pyproject.toml"), encoding="utf-8").read()
    info = zmpi.info("small.z")
    assert info["container"] and info["whole"] and info["logical_size"] == 40000
    assert info["physical_size"] == os.path.getsize("small.z") and info["records"][0]["bytes"] == 40000
    assert info["records"][0]["dtype"] == "f4" and info["records"][0]["bound"] == "lossless"
    assert zmpi.info("small.z", records=False)["records"] == 1
    raw = open("small.raw", "rb").read()
    f = zmpi.File("small.z", threads=2)
    assert f.read() == raw and f.read(39990, 100) == raw[39990:] and f.read(50000) == b""
    fd = os.open("small.z", os.O_RDONLY)
    with zmpi.File(fd) as by_descriptor:
        assert by_descriptor.read(100, 10) == raw[100:110]
    os.close(fd)  # it is still ours
    refuses("small.z: 10 bytes at 39995 lie behind the end at 40000", ValueError, f.read_into, 39995, None, 10)
    refuses("has 1 records", ValueError, f.record, 1)
    f.close()
    f.close()
    refuses("small.z: is closed", ValueError, f.read)
    assert f.closed and "closed" in repr(f)
    assert refuses("missing.z: No such file", OSError, zmpi.File, "missing.z").errno == 2
    refuses("is not a regular file", ValueError, zmpi.File, ".")
    refuses("threads from 0", ValueError, zmpi.File, "small.z", threads=-1)
    error = refuses("small.raw: is not a zmpi container", zmpi.Error, zmpi.File, "small.raw", plain=False)
    assert error.status == "ERR_FORMAT" and error.record is None
    assert zmpi.File("small.raw").read() == raw and not zmpi.info("small.raw")["container"]
    for bound in "", "abs=", "rel=2", "nonsense":
        refuses("error bound is none of", ValueError, zmpi.compress, b"1234", bound)
    refuses("encoder 'zip'", ValueError, zmpi.compress, b"1234", "abs=1", "zip")
    refuses("invalid argument", ValueError, zmpi.compress, b"1234", "abs=1", threads=5000)


def test_damage():
    open("damaged.z", "wb").write(open("small.z", "rb").read())
    record = zmpi.info("small.z")["records"][0]
    flip("damaged.z", record["offset"] + record["stored"] - 50)
    with zmpi.File("damaged.z") as f:
        error = refuses(f"damaged.z: record at offset {record['offset']}: checksum mismatch", zmpi.Error, f.read)
        assert error.status == "ERR_CHECKSUM" and error.record == record["offset"]
    open("cut.z", "wb").write(open("small.z", "rb").read()[:900])
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with zmpi.File("cut.z") as f:
            assert not f.info()["whole"]
    assert [w.category for w in said] == [zmpi.DamageWarning] and "cut.z: damaged or cut off" in str(said[0].message)
    stream = bytearray(zmpi.compress(open("small.raw", "rb").read(), "lossless"))
    stream[-5] ^= 1
    refuses("checksum", zmpi.Error, zmpi.decompress, stream)
    refuses("truncated", zmpi.Error, zmpi.decompress, stream[:-1])
    refuses("not a zmpi stream", zmpi.Error, zmpi.decompress, b"x" * 200)
    refuses("truncated", zmpi.Error, zmpi.stream_info, b"")


# ---- with NumPy ----


def random_key(shape):
    key = []
    for n in shape[:rng.choice([len(shape)] * 4 + [len(shape) // 2])]:
        kind = rng.randrange(5)
        bound = [rng.choice([None, rng.randint(-n - 2, n + 2)]) for _ in range(2)]
        if kind == 0 and n:
            key.append(rng.randint(-n, n - 1))
        elif kind == 1:
            key.append(slice(None))
        elif kind == 2:
            key.append(slice(*bound, rng.choice([2, 3, 7, 1000, -1, -2, -5])))
        else:
            key.append(slice(*bound))
    if rng.randrange(4) == 0:
        key.insert(rng.randint(0, len(key)), None)
    if rng.randrange(4) == 0:
        at = rng.randint(0, len(key))
        key[at:at + rng.randint(0, 2)] = [Ellipsis]
    return tuple(key) if len(key) != 1 or rng.randrange(2) else key[0]


def same(a, b):
    return type(a) is type(b) and a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b)


def test_slices():
    plain = np.random.default_rng(2).integers(-99, 99, 20 * 30 * 40).astype("f4")
    plain.tofile("slices.raw")
    compress_file("slices.raw", "slices.z", "-t", "f32", "-d", "20x30x40", "-e", "lossless")
    for dtype, shape in ("f4", None), ("f4", (20, 30, 40)), ("f4", (-1, 8)), ("f8", (4, 5, -1, 3, 10)), ("u2", (100, 40)), \
            ("c8", (-1,)), ([("a", "f4"), ("b", "i2", 4)], (50, 40)), (">i4", (24000, 1)), ("f4", ()), ("S5", (3, 3)):
        count = plain.nbytes // np.dtype(dtype).itemsize
        extents = (20, 30, 40) if shape is None else shape
        known = int(np.prod([n for n in extents if n != -1]))
        extents = tuple(count // known if n == -1 else n for n in extents)
        expected = np.frombuffer(plain.tobytes(), dtype)[:int(np.prod(extents))].reshape(extents)
        a = zmpi.open("slices.z", dtype=dtype, shape=shape, threads=1 + rng.randrange(3)) if shape is not None else zmpi.open("slices.z")
        assert a.shape == extents and a.dtype == expected.dtype and a.nbytes == expected.nbytes and a.ndim == expected.ndim
        assert same(np.asarray(a), expected)
        for _ in range(150):
            key = random_key(extents)
            assert same(a[key], expected[key]), (dtype, shape, key)
        a.close()
    a = zmpi.open("slices.z")
    assert len(a) == 20 and same(list(a)[3], plain.reshape(a.shape)[3]) and "slices.z" in repr(a)
    assert same(np.asarray(a, "f8"), plain.reshape(a.shape).astype("f8"))
    for key in 20, -21, (0, 0, 0, 0), (Ellipsis, Ellipsis), [1, 2], 1.5, "x", True:
        refuses("", IndexError, a.__getitem__, key)
    a.close()
    refuses("slices.z: is closed", ValueError, a.__getitem__, 0)
    refuses("slices.z: is closed", ValueError, a.__getitem__, slice(0, 0))
    for shape in (-1, -1), (5, -2), (24001,), (2**40, 2**40):
        refuses("", ValueError, zmpi.open, "slices.z", "f4", shape)
    refuses("objects", ValueError, zmpi.open, "slices.z", "O")


def test_many_runs():
    """More runs than are handed on at once, and columns of a wide array."""
    plain = np.arange(600000, dtype="i4").reshape(-1, 2)
    plain.tofile("columns.raw")
    with zmpi.open("columns.raw", "i4", (-1, 2)) as a:  # a plain file
        assert same(a[:, 1], plain[:, 1])
    wide = np.arange(40 * 20000, dtype="f8").reshape(40, 20000)
    wide.tofile("wide.raw")
    compress_file("wide.raw", "wide.z", "-t", "f64", "-d", "40x20000", "-e", "lossless")
    with zmpi.open("wide.z") as a:
        assert a.shape == wide.shape
        for key in (slice(None), 19999), (slice(None, None, -3), slice(5, None, 9999)), (slice(1, 39), slice(10, 20)):
            assert same(a[key], wide[key])


def test_streams():
    source = np.random.default_rng(3)
    smooth = np.cumsum(source.standard_normal((20, 30, 41)), axis=2)
    for dtype, encoder, bound in itertools.product(("f4", "f8", "c8", ">f4"), ("fle", "huffman", "interp"), ("abs=1e-2", "rel=1e-3", "lossless")):
        data = smooth.astype(dtype)
        limit = {"abs=1e-2": 1e-2, "rel=1e-3": 1e-3 * np.ptp(smooth), "lossless": 0}[bound] * (1 + 1e-12)
        for a in data, data.T, data[::2, 5:, ::-1], np.asfortranarray(data):
            stream = zmpi.compress(a, bound, encoder, threads=rng.randrange(3))
            native = a.dtype.newbyteorder("=")
            back = zmpi.decompress(stream, dtype=native, shape=a.shape)
            assert np.abs(back - a).max() <= limit, (dtype, encoder, bound)
            assert zmpi.stream_info(stream)["encoder"] in (encoder, "huffman")
        assert zmpi.decompress(zmpi.compress(smooth, bound, encoder)).shape == smooth.shape
    for dtype in "i4", "u4", "i8", "u8", "i2", "u1", "?", "f2", "S3", "c16", "M8[s]", "U2", "g", [("a", "f4"), ("b", "i2")]:
        raw = source.integers(0, 255, 480, np.uint8)
        data = (raw & 1).view("?") if dtype == "?" else raw.view(dtype) if dtype not in ("c16", "g") else source.standard_normal(60).view("c16" if dtype == "c16" else "f8").astype(dtype)
        back = zmpi.decompress(zmpi.compress(data, "lossless"), dtype=data.dtype)
        assert back.tobytes() == data.tobytes(), dtype
    for shape in (0,), (3, 0, 2), (1,), (), (1, 1, 5), (2, 3, 4, 5):
        data = source.standard_normal(shape)
        assert np.array_equal(zmpi.decompress(zmpi.compress(data, "lossless"), dtype="f8", shape=shape), data), shape
    assert zmpi.decompress(zmpi.compress([[1.5, 2.5]], "lossless")).tolist() == [1.5, 2.5]
    refuses("objects", ValueError, zmpi.compress, np.array([None]), "lossless")
    spike = smooth.copy()
    spike[0, 0, 0] = 1e6
    filled = spike.copy()
    filled[::7] = 0.25  # among the others
    back = zmpi.decompress(zmpi.compress(filled, "rel=1e-3", threshold=1e5, fill=0.25, device="auto"))
    assert (back[::7] == filled[::7]).all()
    for wrong in dict(fill=[1, 2, 3]), dict(device="abacus"):
        try:
            zmpi.compress(filled, "rel=1e-3", **wrong)
        except (ValueError, zmpi.Error):
            continue
        assert False, wrong
    stream = zmpi.compress(spike, "rel=1e-3", threshold=1e5)
    assert zmpi.decompress(stream)[0, 0, 0] == 1e6 and zmpi.stream_info(stream)["abs_bound"] <= 1e-3 * np.ptp(smooth)


def test_following():
    """A file that becomes longer, read by threads meanwhile; and one that is closed under them."""
    with open("grows.raw", "wb") as out:
        out.write(bytes(8))
        out.flush()
        a = zmpi.open("grows.raw", "f4", (-1, 2))
        assert a.shape == (1, 2)
        out.write(bytes(17))
        out.flush()
        assert a.refresh() and a.shape == (3, 2)
    failed = []

    def read():
        try:
            while True:
                if a[0].any():
                    failed.append("other data")
        except ValueError as error:
            if "is closed" not in str(error):
                failed.append(str(error))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for t in threads:
        t.start()
    a.close()
    for t in threads:
        t.join()
    assert not failed, failed


def test_numcodecs():
    from zmpi.numcodecs import Zmpi
    import numcodecs
    codec = Zmpi("abs=1e-3", "huffman")
    data = np.cumsum(np.random.default_rng(4).standard_normal((30, 40)), axis=1).astype("f4")
    for a in data, np.asfortranarray(data):
        encoded = codec.encode(a)
        out = np.empty_like(a)
        codec.decode(encoded, out)
        assert np.abs(out - data).max() <= 1e-3
        flat = np.asarray(codec.decode(encoded)).reshape(-1)
        assert np.array_equal(flat, out.reshape(-1, order="A"))
    for exact in np.arange(100), np.arange(100).astype("M8[s]"), np.arange(50, dtype="i2"):
        assert np.asarray(codec.decode(codec.encode(exact))).tobytes() == exact.tobytes()
    refuses("other byte order", ValueError, codec.encode, data.astype(">f4"))
    refuses("error bound is none of", ValueError, Zmpi, "abs")
    again = numcodecs.get_codec(codec.get_config())
    assert again == codec and numcodecs.get_codec({"id": "zmpi", "bound": "lossless"}).encoder == "fle"


def test_zarr():
    import zarr
    from zmpi.numcodecs import Zmpi
    version = {} if zarr.__version__ < "3" else {"zarr_format": 2}
    data = np.cumsum(np.random.default_rng(5).standard_normal((60, 70)), axis=1)
    for dtype, order in ("f4", "C"), ("f8", "F"):
        z = zarr.open("p.zarr", mode="w", shape=data.shape, chunks=(25, 32), dtype=dtype, order=order,
                      compressor=Zmpi("abs=1e-3", "huffman"), **version)
        z[...] = data.astype(dtype)
        z[10:20] = z[10:20]
        again = zarr.open("p.zarr", mode="r")
        assert again.dtype == dtype and 0 < np.abs(again[...] - data).max() <= 1.01e-3
        assert np.array_equal(again[3, 5:50], again[...][3, 5:50])


def test_xarray():
    import xarray
    from zmpi.xarray import Backend
    data = np.cumsum(np.random.default_rng(6).standard_normal((20, 30, 40)), axis=2).astype("f4")
    data.tofile("x.raw")
    compress_file("x.raw", "x.zx", "-t", "f32", "-d", "20x30x40", "-e", "abs=1e-2")
    assert Backend().guess_can_open("x.zx") and not Backend().guess_can_open("x.raw") and not Backend().guess_can_open("nothing")
    for path, bound in ("x.zx", 1e-2), ("x.raw", 0):
        with xarray.open_dataset(path, engine=Backend, dtype="f4", shape=(-1, 30, 40), dims=("t", "y", "x"), name="p") as d:
            p = d.p
            assert p.dims == ("t", "y", "x") and p.shape == data.shape and p.dtype == "f4" and not p._in_memory
            assert p.attrs.get("zmpi_error_bound") == ("abs=0.01" if bound else None), p.attrs
            part = p.isel(t=slice(3, 9, 2), y=-1)
            assert not part._in_memory and np.abs(part.values - data[3:9:2, -1]).max() <= bound
            assert np.abs(p.isel(x=[5, 1, 7], t=3).values - data[3][:, [5, 1, 7]]).max() <= bound
            assert np.abs(p[::-1].mean("y").values - data[::-1].mean(1)).max() <= bound + 1e-4
    assert list(xarray.open_dataset("x.zx", engine=Backend, drop_variables=["values"]).variables) == []
    refuses("nothing", OSError, xarray.open_dataset, "nothing", engine=Backend)


def test_if_there(module, test):
    try:
        __import__(module)
    except ImportError:
        print(f"no {module}: what is made for it is left out")
    else:
        test()


def main():
    test_without_numpy()
    test_files_and_errors()
    test_damage()
    if np is None:
        print("no NumPy: arrays, slices and the codec for Zarr are left out")
        return
    for test in test_slices, test_many_runs, test_streams, test_following:
        test()
    for module, test in ("numcodecs", test_numcodecs), ("zarr", test_zarr), ("xarray", test_xarray):
        test_if_there(module, test)


main()
