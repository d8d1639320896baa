#!/usr/bin/env python3
"""Train the offline books of the huffman encoder on real fields (CEAZ 3.2.2).

    train_codebooks.py ZMPI FOLDER > codec/huffman/huffman_offline.h

ZMPI is the zmpi tool, FOLDER holds raw fields NAME_DIMS.f32 or .f64. Each field is compressed with
the encoder fle at a relative bound of 1e-3; a part of its chunks gives the counts of the symbols
(docs/format.md 1.4), which count as much as those of any other field of its domain. Every chunk
must be read by every version to come: a table that was released never changes.
"""
import heapq
import math
import operator
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import zmpi_reader  # noqa: E402

DOMAINS = {
    "climate": "ccm cesmlens seaice ostia foam mpas echam wrf colpex mitgcm levitus fizhi fesom "
               "canopy",
    "cosmology": "hacc nyx galaxy",
    "molecular": "md acrolein qmcpack xray",
    "physics": "les sperr plot3d nek femm vmec tomo",
    "seismic": "penobscot marmousi",
}
CHUNKS = 24  # of a field
SHARE = 1 << 20  # what the symbols of a field count together
CLASSES, MOST_EXTRA, LONGEST = 32, 59, 12
RUNS = CLASSES + 16 * MOST_EXTRA
RUN_LENGTHS = list(range(2, 16)) + [16 << i for i in range(7)]
ESCAPE = RUNS + len(RUN_LENGTHS)
SYMBOLS = ESCAPE + 1
KNOWN_EXTRA = 8  # classes of which a book has codes; those beyond are escapes


def symbol_of(r):
    magnitude = r if r >= 0 else ~r
    extra = max(magnitude.bit_length() - 4, 0)
    if not extra:
        return r + 16
    return CLASSES + 16 * (extra - 1) + (8 if r < 0 else 0) + (r >> extra & 7)


def count_run(counts, run):
    while run:
        fit = [n for n in RUN_LENGTHS if n <= run]
        counts[RUNS + len(fit) - 1 if fit else 16] += 1
        run -= fit[-1] if fit else 1


def count_chunk(counts, data, width, count):
    reader = zmpi_reader.Reader(data)
    kind, _, flags, _ = reader.take(4)
    if kind == zmpi_reader.STORED or flags & zmpi_reader.FLAG_ZERO:
        return
    reader.take(2 * width if kind == zmpi_reader.QUANTIZED else width)
    residuals, _ = zmpi_reader.read_residuals(reader, width, flags, count)
    run = 0
    for r in residuals:
        if r == 0:
            run += 1
            continue
        count_run(counts, run)
        run = 0
        counts[min(symbol_of(r), ESCAPE)] += 1
    count_run(counts, run)


def counts_of(zmpi, path):
    """Counts of a field's symbols, that add up to about SHARE."""
    dims, kind = re.fullmatch(r".*_([0-9x]+)\.(f32|f64)", path).groups()
    with tempfile.NamedTemporaryFile() as out:
        subprocess.run([zmpi, "compress", "--codec", "fle", "-t", kind, "-e", "rel=1e-3",
                        "-d", cut(dims), path, out.name], check=True)
        container = zmpi_reader.open_container(out.name)
    counts = [0] * SYMBOLS
    stream = container.stream(container.records[0])
    for k in range(0, stream.chunks, stream.chunks // CHUNKS + 1):
        _, extent = stream.place(k)
        count_chunk(counts, stream.chunk(k), stream.width, math.prod(extent))
    for s in range(CLASSES + 16 * KNOWN_EXTRA, RUNS):
        counts[ESCAPE] += counts[s]
        counts[s] = 0
    total = sum(counts)
    return [n * SHARE // total if total else 0 for n in counts]


def cut(dims):
    parts = [int(n) for n in dims.split("x")]
    return "x".join(map(str, [math.prod(parts[:-2])] + parts[-2:] if len(parts) > 3 else parts))


def best_lengths(counts):
    """Short runs have codes where that pays."""
    books = []
    for shortest in (2, 4, 16):
        folded = counts[:]
        for s in range(RUNS, RUNS + shortest - 2):
            folded[16] += folded[s] * RUN_LENGTHS[s - RUNS]
            folded[s] = 0
        lengths = lengths_of(folded, RUNS + shortest - 2)
        books.append((sum(map(operator.mul, folded, lengths)), shortest, lengths))
    return min(books)[2]


def lengths_of(counts, first_run):
    """Lengths of a complete code of at most LONGEST bits: weights are flattened until it fits."""
    known = [s for s in range(SYMBOLS)
             if s < CLASSES + 16 * KNOWN_EXTRA or s >= first_run]
    floor = 1
    while True:
        heap = [(max(counts[s], floor), s, [s]) for s in known]
        lengths = [0] * SYMBOLS
        heapq.heapify(heap)
        while len(heap) > 1:
            a, b = heapq.heappop(heap), heapq.heappop(heap)
            for s in a[2] + b[2]:
                lengths[s] += 1
            heapq.heappush(heap, (a[0] + b[0], min(a[1], b[1]), a[2] + b[2]))
        if max(lengths) <= LONGEST:
            return lengths
        floor *= 2


def pack(lengths):
    """A book as docs/format.md 1.4 has it."""
    bits, last, s = [], 6, 0

    def put(value, n):
        bits.extend(value >> i & 1 for i in range(n))

    while s < SYMBOLS:
        length = lengths[s]
        if not length:
            end = next((i for i in range(s, SYMBOLS) if lengths[i]), SYMBOLS)
            put(3, 6)
            put(end - s - 1, 10)
            s = end
            continue
        if length == last:
            put(0, 1)
        elif abs(length - last) == 1:
            put(1 if length > last else 5, 3)
        else:
            put(3 | length << 2, 6)
        last = length
        s += 1
    bits += [0] * (-len(bits) % 8)
    return bytes(sum(bit << i for i, bit in enumerate(bits[at:at + 8]))
                 for at in range(0, len(bits), 8))


def main(arguments):
    if len(arguments) != 2:
        sys.stderr.write(__doc__)
        return 2
    zmpi, folder = arguments
    sums = {name: [0] * SYMBOLS for name in list(DOMAINS) + ["average"]}
    for name in sorted(os.listdir(folder)):
        if not name.endswith((".f32", ".f64")):
            continue
        domain, = (d for d, names in DOMAINS.items() if name.split("_")[0] in names.split())
        counts = counts_of(zmpi, os.path.join(folder, name))
        for total in (sums[domain], sums["average"]):
            total[:] = map(sum, zip(total, counts))
    books = [(name, pack(best_lengths(counts))) for name, counts in sums.items()]
    most = max(len(data) for _, data in books)
    print("/*\n * huffman_offline.h - the books that every reader has (format.md 6), by "
          "train_codebooks.py.\n */")
    print("static const struct {\n    const char *name;\n"
          f"    unsigned char bytes[{most}];\n}} zmpi_offline[ZMPI_HUFFMAN_OFFLINE] = {{")
    for name, data in books:
        print(f'    {{"{name}",\n     {{')
        for at in range(0, len(data), 16):
            print("      " + " ".join(f"0x{byte:02X}," for byte in data[at:at + 16]))
        print("     }},")
    print("};")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
