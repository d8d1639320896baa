#!/usr/bin/env python3
"""bench_hdf5_parts.py PLUGINS FIELD...: what zmpi's HDF5 filter loses where programs write chunks in parts.

PLUGINS is the folder of libh5zmpi.so (build/lib/zmpi/hdf5), FIELD a raw file NAME_DIMS.f32 or .f64. Each field is one
dataset of chunks of at most 4 MiB, written by one call, by planes (rows, if it has two dimensions), and by quarters, so that
HDF5 codes a chunk again for each call: its cache of chunks is off. Bounds are abs, 1e-3 and 1e-5 of the range. Prints ratios,
and the largest error as a part of the bound. Needs h5py (Debian: python3-h5py). interp takes minutes.
"""
import os
import sys
import tempfile

os.environ["HDF5_PLUGIN_PATH"] = sys.argv[1]
import h5py  # noqa: E402
import numpy as np  # noqa: E402

ENCODERS = {"fle": 1, "huffman": 2, "interp": 3}


def read(path):
    """A field, with its first extents joined to at most three."""
    stem, kind = os.path.basename(path).rsplit(".", 1)
    shape = [int(n) for n in stem.rsplit("_", 1)[1].split("x")]
    while len(shape) > 3 or (len(shape) == 3 and shape[2] < 4):
        shape = [shape[0] * shape[1], *shape[2:]] if shape[-1] >= 4 else [*shape[:-2], shape[-2] * shape[-1]]
    return np.fromfile(path, "<f4" if kind == "f32" else "<f8").reshape(shape)


def parts(how, shape):
    """The slices of each call."""
    if how == "whole":
        return [()]
    if how == "planes":
        return [(i,) for i in range(shape[0])]
    y, x = shape[-2] // 2, shape[-1] // 2
    return [(..., a, b) for a in (slice(0, y), slice(y, None)) for b in (slice(0, x), slice(x, None))]


def measure(data, encoder, bound, how):
    """The ratio, and the largest error over the bound."""
    exponent = 12
    mantissa = round(bound * 10**exponent)
    while mantissa >= 2**31:
        exponent -= 1
        mantissa = round(bound * 10**exponent)
    bound = mantissa / 10**exponent
    rows = max(1, min(data.shape[0], (4 << 20) // (data.nbytes // data.shape[0])))
    options = (1, mantissa, exponent % 2**32, ENCODERS[encoder])
    with tempfile.NamedTemporaryFile(suffix=".h5") as at:
        with h5py.File(at.name, "w", rdcc_nbytes=0) as f:
            chunks = (rows, *data.shape[1:])
            made = f.create_dataset("field", data.shape, data.dtype, chunks=chunks, compression=497, compression_opts=options)
            for part in parts(how, data.shape):
                made[part] = data[part]
        with h5py.File(at.name) as f:
            stored = f["field"].id.get_storage_size()
            error = np.nanmax(np.abs(f["field"][()].astype("f8") - data))
    return data.nbytes / stored, error / bound


def main():
    """Prints a table."""
    print("| field | bound | encoder | whole | by planes | by quarters | largest error, in bounds |")
    print("| --- | --- | --- | --: | --: | --: | --: |")
    for path in sys.argv[2:]:
        data = read(path)
        span = float(np.nanmax(data)) - float(np.nanmin(data))
        for part in (1e-3, 1e-5):
            for encoder in ("fle", "huffman", "interp"):
                got = [measure(data, encoder, part * span, how) for how in ("whole", "planes", "quarters")]
                ratios = " | ".join(f"{ratio:.2f}" for ratio, _ in got)
                errors = ", ".join(f"{error:.3f}" for _, error in got)
                name = os.path.basename(path).rsplit(".", 1)[0]
                print(f"| {name} | {part:g} | {encoder} | {ratios} | {errors} |", flush=True)


main()
