#!/usr/bin/env python3
"""perf_test.py CASE: zmpi-perf measures, verifies and reports what it says (perf.CASE).

ZMPI_TEST_BIN and ZMPI_TEST_LIB name what was built, MPIEXEC the launcher with its options.
"""

import array
import json
import math
import os
import subprocess
import sys

BIN = os.environ["ZMPI_TEST_BIN"]
SCRIPTS = os.path.join(os.environ["ZMPI_TEST_SOURCE"], "scripts")
LAUNCHER = os.environ["MPIEXEC"].split()


def launch(ranks, *arguments, program="zmpi-perf", preload=None):
    """The program's result; its output is shown if the test fails."""
    command = LAUNCHER + ["-n", str(ranks)]
    if preload:
        command += ["env", "LD_PRELOAD=" + preload]
    command += [os.path.join(BIN, program), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=250, check=False)
    print(" ".join(command), "->", done.returncode, done.stdout, done.stderr, sep="\n")
    return done


def measure(ranks, *arguments, **options):
    done = launch(ranks, *arguments, "--json", "result.json", **options)
    assert done.returncode == 0
    with open("result.json", encoding="utf-8") as f:
        return json.load(f)


def check_structure(data, ranks, repetitions):
    assert data["program"] == "zmpi-perf"
    assert data["parameters"]["ranks"] == ranks and data["machine"]["nodes"] == 1
    assert data["machine"]["cores"] > 0 and data["machine"]["mpi"] and data["machine"]["cpu"]
    for r in data["results"]:
        assert len(r["seconds"]) == repetitions and min(r["seconds"]) > 0
        assert min(r["seconds"]) <= r["median"] <= max(r["seconds"])
        assert math.isclose(r["rate"], r["bytes"] / r["median"], rel_tol=1e-4)
        for part in ("busiest", "mean"):
            assert set(r[part]) == {"scan", "compress", "decode", "rest"}
    names = [(r["operation"], r["variant"]) for r in data["results"]]
    assert len(set(names)) == len(names)


def by_name(data):
    return {(r["operation"], r["variant"]): r for r in data["results"]}


def case_operations():
    """Every operation, plain and compressed; pictures and model take the result."""
    files = ["write_at_all", "write_at", "read_at_all", "read_at"]
    others = ["gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv", "alltoall", "alltoallv",
              "bcast", "bcast_lossy"]
    data = measure(3, "-s", "2M", "-n", "2", "-w", "1", "-o", ",".join(files + others), "-e", "rel=1e-3,lossless",
                   "--note", "link=none")
    check_structure(data, 3, 2)
    assert data["notes"] == {"link": "none"} and data["zmpi"]
    results = by_name(data)
    block = data["parameters"]["bytes_per_rank"]
    moved = {"gather": 2, "scatter": 2, "bcast": 2, "alltoall": 2, "allgather": 6, "write_at": 3, "read_at": 3}
    for operation in files + others:
        plain, lossy, exact = (results[operation, v] for v in ("plain", "rel=1e-3", "lossless"))
        assert moved.get(operation, plain["bytes"] / block) * block == plain["bytes"] == lossy["bytes"]
        assert plain["compressed"] == 0 and plain["ratio"] == 1 and plain["largest_error"] == 0
        assert lossy["compressed"] == exact["compressed"] == 2
        assert exact["largest_error"] == 0 and exact["ratio"] > 1.05
        if operation == "bcast":  # is exact unless it is told otherwise
            assert lossy["largest_error"] == 0
            continue
        # The generated field is between -2 and 2.
        assert 0 < lossy["largest_error"] < 4e-3 and lossy["ratio"] > 5
        reading = operation.startswith("read")
        assert lossy["busiest"]["compress"] + lossy["busiest"]["decode"] > 0
        assert reading or lossy["compress_rate"] > 0
        assert lossy["decode_rate"] > 0 or operation.startswith("write")
    assert results["write_at_all", "rel=1e-3"]["busiest"]["scan"] > 0
    assert results["gather", "rel=1e-3"]["mean"]["scan"] > 0
    model = subprocess.run([os.path.join(SCRIPTS, "perf_model.py"), "result.json"], capture_output=True, text=True,
                           check=True).stdout
    assert model.count("| gather | none | 3 | rel=1e-3 ") == 1 and "| 1024 |" in model
    subprocess.run([os.path.join(SCRIPTS, "perf_plots.py"), ".", "result.json"], check=True)
    with open("speedup.gp", encoding="utf-8") as f:
        assert "MPI_Gather, none" in f.read()
    assert not [name for name in os.listdir(".") if ".zmpi-perf" in name]


def case_field():
    """A given field with NaN, infinities and fill values, in doubles, of two dimensions; auto within one node."""
    values = array.array("d", (math.sin(i / 50) for i in range(60 * 500)))
    values[7], values[1000], values[2000] = float("nan"), float("-inf"), 1e20
    with open("field_60x500.f64", "wb") as f:
        values.tofile(f)
    data = measure(2, "-f", "field_60x500.f64", "-d", "60x500", "-s", "500K", "-n", "1", "-w", "1", "-m", "always,auto",
                   "-o", "write_at_all,gather", "-e", "abs=1e-3")
    check_structure(data, 2, 1)
    results = by_name(data)
    assert data["parameters"]["type"] == "f64" and data["parameters"]["shape"][1:] == [1, 500]
    assert 0 < results["gather", "abs=1e-3 always"]["largest_error"] <= 1e-3
    assert results["gather", "abs=1e-3 auto"]["compressed"] == 0
    assert results["write_at_all", "abs=1e-3"]["compressed"] == 1
    assert launch(2, "-f", "field_60x500.f64", "-d", "60x501").returncode != 0


def case_bounds():
    """Every bound, by both encoders; what comes of a ratio is the ratio."""
    bounds = ["pw_rel=1e-3", "psnr=70", "ratio=10"]
    data = measure(2, "-s", "1M", "-n", "1", "-w", "1", "-e", ",".join(bounds), "--codec", "fle,huffman", "-o",
                   "write_at_all,read_at,write_at,gather,alltoall,bcast_lossy")
    check_structure(data, 2, 1)
    for (operation, variant), r in by_name(data).items():
        if variant == "plain":
            continue
        assert r["compressed"] == 1 and r["ratio"] > 1.5 and r["largest_error"] > 0, (operation, variant)
        if variant.startswith("ratio=10"):  # heads of messages and records count here
            assert 9.2 < r["ratio"] < 10.6, (operation, variant, r["ratio"])
    small = measure(2, "-s", "512K", "-n", "1", "-w", "1", "-e", "ratio=10", "-o", "write_at_all,read_at,write_at")
    for r in small["results"]:  # held back until the close, or MPI_File_sync
        assert r["variant"] == "plain" or r["largest_error"] > 0 and 8.5 < r["ratio"] < 10.6, r


def case_components():
    """Variables that take turns have a bound and errors of their own, in files and messages."""
    scale = 100.0
    data = measure(2, "--components", "4", "-s", "512K", "-n", "1", "-w", "1", "-e",
                   "rel=1e-3,psnr=70,abs=0.01,ratio=8", "-o", "write_at_all,write_at,read_at,gather,alltoall,bcast_lossy")
    check_structure(data, 2, 1)
    assert data["parameters"]["components"] == 4
    for (operation, variant), r in by_name(data).items():
        assert len(r["errors"]) == 4 and max(r["errors"]) == r["largest_error"]
        if variant == "rel=1e-3":  # of ranges of 2 to 4 times 100^c
            for c, error in enumerate(r["errors"]):
                assert 1e-4 * scale ** c < error < 4e-3 * scale ** c, (operation, c, error)
    values = array.array("f", (math.sin(i // 3 / 50) * 1000 ** (i % 3) for i in range(3 * 20000)))
    with open("points.f32", "wb") as f:
        values.tofile(f)
    for dims in "60000", "20000x3", "100x600":
        field = measure(2, "-f", "points.f32", "-d", dims, "--components", "3", "-s", "480000", "-n", "1", "-w", "1", "-o",
                        "write_at_all,gather")
        for r in field["results"]:
            assert r["variant"] == "plain" or 0 < r["errors"][0] < 2.1e-3 and r["errors"][2] > 10, r
    done = launch(2, "--components", "4", "-s", "512K", "-n", "1", "-w", "1", "--self-test")
    assert done.returncode == 0 and "component 3" in done.stdout
    assert launch(2, "-f", "points.f32", "-d", "100x600", "--components", "7").returncode != 0


def case_self_test():
    """A value that is off by more than the bound, in any operation, is found."""
    done = launch(2, "-s", "512K", "-n", "1", "-w", "1", "-e", "rel=1e-3,lossless,pw_rel=1e-3,psnr=70,ratio=10", "-o",
                  "write_at_all,read_at,gather,scatter,allgather,alltoall,bcast,bcast_lossy", "--self-test")
    assert done.returncode == 0 and "all falsified values were found" in done.stdout


def case_alone():
    """Without libzmpi.so the program measures MPI alone, with it preloaded what zmpi-perf does."""
    small = ["-s", "512K", "-n", "1", "-w", "1", "-o", "write_at,scatter"]
    done = launch(2, *small, program="tests/perf-alone")
    assert done.returncode != 0 and "libzmpi.so is not in front of MPI" in done.stderr
    data = measure(2, *small, "--plain", program="tests/perf-alone")
    check_structure(data, 2, 1)
    assert data["zmpi"] is None and {r["variant"] for r in data["results"]} == {"plain"}
    data = measure(2, *small, program="tests/perf-alone", preload=os.environ["ZMPI_TEST_LIB"])
    assert by_name(data)["scatter", "rel=1e-3"]["compressed"] == 1


def case_arguments():
    for wrong in (["-o", "reduce"], ["-e", "rel=0"], ["-e", "exact"], ["-e", "ratio=1"], ["-e", "psnr=high"],
                  ["-s", "64X"], ["-n", "0"], ["-m", "never"], ["--components", "17"], ["--components", "0"],
                  ["--note", "link"], ["-f", "x.f32"], ["-t", "f16"], ["--unknown", "1"], ["-s"]):
        done = subprocess.run([os.path.join(BIN, "zmpi-perf"), *wrong], capture_output=True, text=True, check=False)
        assert done.returncode == 2 and "zmpi-perf: " in done.stderr, wrong


if __name__ == "__main__":
    globals()["case_" + sys.argv[1]]()
