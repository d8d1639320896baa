#!/usr/bin/env python3
"""What compression should win: from rates to speed-ups.

  perf_model.py FILE.json...   predicted beside measured, for what zmpi-perf --json wrote; then gather and write for
                               1 to 1024 nodes with the measured codec, on the links of --link and --sink
  perf_model.py --ceaz         the model beside the figures of the CEAZ paper (section 4.9.2)

The model: data travel at the rate of the narrowest place; compressed, a ratio times fewer bytes do. The codec works at
the same time, in pieces. So an operation takes as long as the slower of both: max(wire / ratio, codec).
"""

import argparse
import json

NODES = [2**i for i in range(11)]


def work(operation, ranks):
    """How often a rank's block is compressed and decoded: by the busiest rank, by all together."""
    n = ranks - 1
    if operation.startswith("gather"):
        return [(1, 0), (0, n)], (n, n)
    if operation.startswith("scatter"):
        return [(n, 0), (0, 1)], (n, n)
    if operation.startswith("allgather"):
        return [(1, n)], (ranks, ranks * n)
    if operation.startswith("alltoall"):
        return [(n / ranks, n / ranks)], (n, n)
    if operation.startswith("bcast"):
        return [(1, 0), (0, 1)], (1, n)
    if operation.startswith("write"):
        return [(1, 0)], (ranks, 0)
    return [(0, 1)], (0, ranks)


def codec_seconds(result, parameters, cores):
    """Of the busiest rank, or of all ranks on the cores that they share."""
    def seconds(compressed, decoded):
        total = 0
        for blocks, rate in ((compressed, result["compress_rate"]), (compressed, result["scan_rate"]),
                             (decoded, result["decode_rate"])):
            total += blocks * parameters["bytes_per_rank"] / rate if rate else 0
        return total

    ranks = parameters["ranks"]
    busiest, together = work(result["operation"], ranks)
    return max([seconds(*one) for one in busiest] + ([seconds(*together) / min(cores, ranks)] if cores else []))


def load(path):
    """What zmpi-perf --json wrote."""
    try:
        with open(path, encoding="utf-8") as f:
            data = json.load(f)
    except OSError as e:
        raise SystemExit(f"{path}: {e.strerror}") from None
    except ValueError:
        data = None
    if not isinstance(data, dict) or data.get("program") != "zmpi-perf":
        raise SystemExit(f"{path}: not written by zmpi-perf --json")
    return data


def compare(paths):
    """Markdown rows of predicted and measured, and the results they are of."""
    rows, used = [], []
    for path in paths:
        data = load(path)
        parameters, notes = data["parameters"], data["notes"]
        cores = int(notes.get("shared_cores", 0))
        plain = {r["operation"]: r for r in data["results"] if not r["bound"]}
        for r in data["results"]:
            if not r["bound"] or not r["compressed"] or r["mode"] in ("auto", "measured"):
                continue
            raw = plain[r["operation"]]["median"]
            wire, codec = raw / r["ratio"], codec_seconds(r, parameters, cores)
            place = notes.get("storage" if r["operation"].startswith(("read", "write")) else "link", "")
            predicted = raw / max(wire, codec)
            stops = r["bytes"] / codec if codec else 0
            rows.append([r["operation"], place, str(parameters["ranks"]), r["bound"], f"{r['ratio']:.2f}",
                         f"{r['speedup']:.2f}", f"{predicted:.2f}", f"{raw / (wire + codec):.2f}",
                         "link" if wire > codec else "codec", f"{8 * stops / 1e9:.1f}"])
            used.append((r, parameters))
    return rows, used


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "| --- " * len(head) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def seconds(nodes, block, link, sink, ratio=1, compress=0, decode=0, overlap=True):
    """Every node brings a block over its link to one place, which takes `sink` bytes a second, and decodes there."""
    wire = max(block / link, nodes * block / sink) / ratio
    coding = [block / compress if compress else 0, nodes * block / decode if decode else 0]
    return max([wire] + coding) if overlap else wire + sum(coding)


def scale(what, block, link, sink, ratio, compress, decode):
    rows = []
    for n in NODES:
        raw, packed = seconds(n, block, link, sink), seconds(n, block, link, sink, ratio, compress, decode)
        rows.append([str(n), f"{n * block / raw / 1e9:.2f}", f"{n * block / packed / 1e9:.2f}", f"{raw / packed:.2f}"])
    print(f"\n{what}: ratio {ratio:.2f}; each node compresses {compress / 1e9:.2f} GB/s"
          + (f", the root decodes {decode / 1e9:.2f} GB/s" if decode else "")
          + f"; links {link / 1e9:g} GB/s, {'root' if decode else 'storage'} {sink / 1e9:g} GB/s\n")
    print(table(["nodes", "plain GB/s", "zmpi GB/s", "speed-up"], rows))
    print(f"\nCompression stops paying where {'the root' if decode else 'each node'} gets more than "
          f"{8 * (decode or compress) / 1e9:.1f} Gbit/s through.")


def codec_of(used, operation):
    """Ratio and rates of the codec: the best that was seen at the bound rel=1e-3, else at the first."""
    bounds = [r["bound"] for r, _ in used if r["operation"] == operation]
    if not bounds:
        return None
    bound = "rel=1e-3" if "rel=1e-3" in bounds else bounds[0]
    found = [r for r, _ in used if r["bound"] == bound and r["operation"] != "bcast"]
    best = {rate: max(r[rate] for r in found) for rate in ("scan_rate", "compress_rate", "decode_rate")}
    if not best["compress_rate"] or (operation == "gather" and not best["decode_rate"]):
        print(f"\n{operation}: the codec took too little time to be measured; take more data (zmpi-perf -s)")
        return None
    scan = 1 / best["scan_rate"] if best["scan_rate"] else 0
    ratio = next(r["ratio"] for r in found if r["operation"] == operation)
    return ratio, 1 / (1 / best["compress_rate"] + scan), best["decode_rate"]


# Speed-ups at 128 nodes: operation, data, GB per node, plain GB/s, compressor's GB/s per node, ratio, published.
CEAZ = [
    ("write", "NYX", 3.0, 30.5, "CEAZ", 17.8, 23.7, 18.0), ("write", "S3D", 10.2, 30.5, "CEAZ", 17.8, 47.8, 28.9),
    ("gather", "NYX", 3.0, 12.4, "CEAZ", 17.8, 23.7, 21.0), ("gather", "S3D", 10.2, 12.4, "CEAZ", 17.8, 47.8, 37.8),
    ("write", "S3D", 10.2, 30.5, "SZ, 1 core", 0.41, 49.8, 51.0 / 30.5),
    ("gather", "S3D", 10.2, 12.4, "SZ, 1 core", 0.41, 49.8, 48.7 / 12.4),
]


def ceaz():
    rows = []
    for operation, name, block, plain, codec, compress, ratio, published in CEAZ:
        sizes = dict(nodes=128, block=block, link=float("inf"), sink=plain)
        raw = seconds(**sizes)
        one_by_one = raw / seconds(**sizes, ratio=ratio, compress=compress, overlap=False)
        overlapped = raw / seconds(**sizes, ratio=ratio, compress=compress)
        rows.append([operation, name, codec, f"{ratio:g}", f"{published:.1f}", f"{one_by_one:.1f}", f"{overlapped:.1f}"])
    print(table(["operation", "data", "compressor", "ratio", "published", "codec, then wire", "codec beside wire"], rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("json", nargs="*")
    parser.add_argument("--ceaz", action="store_true")
    parser.add_argument("--link", type=float, default=1.25, help="GB/s of a node (1.25: 10 Gbit/s)")
    parser.add_argument("--sink", type=float, default=30.5, help="GB/s that the storage takes (30.5, as in CEAZ)")
    parser.add_argument("--root-factor", type=float, default=1,
                        help="the root decodes so many times faster than measured: it has more cores (1)")
    parser.add_argument("--block", type=float, default=1, help="GB of each node (1)")
    a = parser.parse_args()
    if a.ceaz:
        ceaz()
        return
    if not a.json:
        parser.error("which JSON files of zmpi-perf?")
    rows, used = compare(a.json)
    print(table(["operation", "link or storage", "ranks", "bound", "ratio", "measured speed-up",
                 "predicted, max(wire, codec)", "predicted without overlap", "limited by", "pays below Gbit/s"], rows))
    gather, write = codec_of(used, "gather"), codec_of(used, "write_at_all")
    if gather:
        ratio, compress, decode = gather
        scale("MPI_Gather", a.block * 1e9, a.link * 1e9, a.link * 1e9, ratio, compress, decode * a.root_factor)
    if write:
        scale("MPI_File_write_at_all", a.block * 1e9, a.link * 1e9, a.sink * 1e9, write[0], write[1], 0)


if __name__ == "__main__":
    main()
