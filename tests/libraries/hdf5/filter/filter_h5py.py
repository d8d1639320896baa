#!/usr/bin/env python3
"""Datasets of all kinds by h5py and the filter (codec/hosts/hdf5).

    filter_h5py.py ID
"""
import sys

import h5py
import numpy as np

ID = int(sys.argv[1])
REL = (2, 1, 3)


def field(shape, dtype):
    axes = np.meshgrid(*(np.arange(n) for n in shape), indexing="ij")
    return sum((np.sin(0.1 * a + i) for i, a in enumerate(axes)), np.zeros(shape)).astype(dtype)


def check(file, name, data, bound, chunks=True, opts=REL, **more):
    """bound: the largest error; None: exact."""
    file.create_dataset(name, data=data, chunks=chunks, compression=ID, compression_opts=opts, **more)
    back = file[name][()]
    assert back.dtype == data.dtype and back.shape == data.shape, name
    if bound is None:
        assert back.tobytes() == data.tobytes(), f"{name} is not exact"
    else:
        error = np.max(np.abs(back - data))
        assert 0 < error <= bound, f"{name}: error {error}, bound {bound}"
    return file[name].id.get_storage_size()


def rewritten(file, name, dtype, encoder, magnitude, bound=1e-3):
    """Writes a chunk in parts, which are coded each time. What was decoded before stays as it is."""
    shape = (30, 40, 50)
    random = np.random.default_rng(encoder)
    z, y, x = np.meshgrid(*(np.arange(n) for n in shape), indexing="ij")
    dataset = file.create_dataset(name, shape, dtype, chunks=shape, compression=ID, compression_opts=(1, 1, 3, encoder))
    model = np.zeros(shape, dtype)
    for step in range(16):
        wave = magnitude * np.sin(0.05 * x + 0.07 * y + 0.03 * z + step) + 0.002 * random.standard_normal(shape)
        low = [0 if step == 0 else random.integers(n) for n in shape]
        part = tuple(slice(i, n if step == 0 else random.integers(i, n) + 1) for i, n in zip(low, shape))
        if step % 5 == 4:
            part = (part[0], part[1], slice(low[2], shape[2], 3))
        before = dataset[()]
        model[part] = before[part] = wave.astype(dtype)[part]
        dataset[part] = model[part]
        dataset.file.flush()
        after = dataset[()]
        error = np.max(np.abs(after.astype("f8") - model))
        assert error <= bound, f"{name}, step {step}: error {error}, bound {bound}"
        moved = (after != before) & (before != model)
        assert not moved.any(), f"{name}, step {step}: {moved.sum()} decoded values moved"


def main():
    # HDF5 caches no chunk: each write decodes it and codes it again.
    with h5py.File("parts.h5", "w", rdcc_nbytes=0) as f:
        for encoder in 1, 2, 3:
            for dtype in "f4", "f8":
                for magnitude in 1, 100, 20000:
                    rewritten(f, f"{encoder}_{dtype}_{magnitude}", dtype, encoder, magnitude)
    with h5py.File("h5py.h5", "w") as f:
        for dtype in ("f4", "f8"):
            for shape, chunks in (((5000,), (5000,)), ((100, 300), (50, 300)), ((20, 30, 40), (5, 30, 40)),
                                  ((2, 3, 20, 30, 1), (1, 3, 20, 30, 1)), ((70, 90), (32, 64))):
                data = field(shape, dtype) + 10
                name = f"{dtype}_{len(shape)}_{chunks[0]}"
                size = check(f, name, data, 2e-3 * 14, chunks)
                assert shape == (70, 90) or 2 * size < data.nbytes, f"{name}: {size} of {data.nbytes}"
        check(f, "abs", field((100, 300), "f8"), 1e-5, opts=(1, 1, 5))
        check(f, "complex", field((100, 300), "f8") + 1j * field((100, 300), "f8"), 1e-3 * 6)
        check(f, "lossless", field((100, 300), "f8"), None, opts=(0,))
        check(f, "no_parameters", field((100, 300), "f8"), None, opts=())
        check(f, "shuffled", field((100, 300), "f8"), None, shuffle=True)
        check(f, "big_endian", field((100, 300), "f8").astype(">f8"), None)
        check(f, "half", field((100, 300), "f2"), None)
        for dtype in ("i1", "u2", "i4", "i8"):
            check(f, dtype, np.arange(9000).reshape(90, 100).astype(dtype), None)
        check(f, "text", np.array([b"zmpi", b"h5py"] * 500), None)
        check(f, "records", np.zeros(1000, [("i", "i4"), ("x", "f8")]), None)
        odd = field((100, 300), "f4")
        odd[3, 4:7] = np.nan, np.inf, -np.inf
        f.create_dataset("nan", data=odd, chunks=(100, 300), compression=ID, compression_opts=REL)
        assert f["nan"][3, 4:7].tobytes() == odd[3, 4:7].tobytes()
        for opts in ((6, 1, 3), (2, 1, 0), (2, 0, 0), (1, 1, 400), (2, 1, 3, 9)):
            try:
                f.create_dataset("wrong", data=odd, compression=ID, compression_opts=opts)
            except (OSError, ValueError, RuntimeError) as error:
                assert "zmpi: parameters are" in str(error), error
            else:
                sys.exit(f"{opts} was taken")
        grown = f.create_dataset("grown", (10, 300), "f4", chunks=(10, 300), maxshape=(None, 300), compression=ID,
                                 compression_opts=REL, fletcher32=True)
        grown.resize(100, axis=0)
        grown[...] = field((100, 300), "f4")
        assert np.max(np.abs(grown[...] - field((100, 300), "f4"))) <= 4e-3


main()
