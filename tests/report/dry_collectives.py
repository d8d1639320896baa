#!/usr/bin/env python3
"""dry_collectives.py: collectives of a dry run are exact, few of many calls are sampled, and their ratios are within a tenth of the
real ones; of many writes to a file, as many are sampled as there is time for."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

ZMPI = os.path.join(os.environ["ZMPI_TEST_BIN"], "zmpi")
SOURCE = r"""
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
enum { N = 1 << 16, CALLS = 100, WRITES = 64 };
static float sent[2 * N], got[2 * N];
static float value(int rank, int i) { return sinf(i * 1e-3f) + 0.3f * sinf(i * 0.37f + rank) + rank; }
static double off(int i, int rank, int at) { return fabs(got[i] - (double)value(rank, at)); }
int main(int argc, char **argv)
{
    int rank;
    double most = 0;
    MPI_File f;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2 * N; i++)
        sent[i] = value(rank, i);
    for (int i = 0; i < CALLS; i++)
        MPI_Gather(sent, N, MPI_FLOAT, got, N, MPI_FLOAT, 1, MPI_COMM_WORLD);
    for (int i = 0; rank == 1 && i < 2 * N; i++)
        most = fmax(most, off(i, i / N, i % N));
    MPI_Alltoall(sent, N, MPI_FLOAT, got, N, MPI_FLOAT, MPI_COMM_WORLD);
    for (int i = 0; i < 2 * N; i++)
        most = fmax(most, off(i, i / N, rank * N + i % N));
    MPI_Scatterv(sent, (int[]){N, N / 2}, (int[]){0, N}, MPI_FLOAT, got, rank ? N / 2 : N, MPI_FLOAT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < (rank ? N / 2 : N); i++)
        most = fmax(most, off(i, 0, rank * N + i));
    MPI_Allgather(sent, N, MPI_FLOAT, got, N, MPI_FLOAT, MPI_COMM_WORLD);
    MPI_Bcast(sent, 2 * N, MPI_FLOAT, 1, MPI_COMM_WORLD);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &f);
    for (int i = 0; i < WRITES; i++)
        MPI_File_write_at(f, (MPI_Offset)rank * (MPI_Offset)sizeof sent, sent, 2 * N, MPI_FLOAT, MPI_STATUS_IGNORE);
    MPI_File_close(&f);
    printf("largest error %g\n", most);
    MPI_Finalize();
    return 0;
}
"""
BLOCK = 4 << 16
# What a run looks at (each has time for some samples), its row, bytes.
OPERATIONS = {"gather": ("MPI_Gather", 200 * BLOCK), "alltoall": ("MPI_Alltoall", 4 * BLOCK), "scatter": ("MPI_Scatterv", 1.5 * BLOCK),
              "allgather": ("MPI_Allgather", 2 * BLOCK), "bcast_lossy": ("MPI_Bcast", 2 * BLOCK)}


def fail(*what):
    sys.exit("FAIL: " + " ".join(str(w) for w in what))


def run(bound, collectives, *options):
    environment = os.environ | {"ZMPI_COLLECTIVES": collectives, "ZMPI_COLLECTIVE_MODE": "always"}
    done = subprocess.run(["mpirun", "--oversubscribe", "-n", "2", ZMPI, "run", "-e", bound, "--report", "report.json", *options,
                           "./program", "out.z"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, env=environment)
    if done.returncode:
        fail("status", done.returncode, done.stdout)
    with open("report.json", encoding="utf-8") as text:
        return json.load(text), done.stdout


def main():
    if not shutil.which("mpicc.openmpi"):
        print("no Open MPI")
        return 77
    with open("program.c", "w", encoding="utf-8") as out:
        out.write(SOURCE)
    subprocess.run(["mpicc.openmpi", "-O1", "-o", "program", "program.c", "-lm"], check=True)
    rows = {}
    for option, (name, size) in OPERATIONS.items():
        report, said = run("abs=0.003", option, "--dry-run")
        if said.count("largest error 0\n") != 2:
            fail("a dry run changed what was sent", said)
        if any(r["calls_compressed"] for r in report["collectives"]) or report["files"]:
            fail("something was compressed", report)
        found = [r for r in report["dry_run"] if "collective" in r]
        if [(r["collective"], r["bytes"]) for r in found] != [(name, size)]:
            fail(option, found)
        rows[name] = found[0]
    # Eight calls, the 16th, the 32nd and the 64th, of 100, however much time there is.
    if not 0 < rows["MPI_Gather"]["bytes_sampled"] <= 22 * BLOCK:
        fail("samples of MPI_Gather", rows["MPI_Gather"])
    written = next(r for r in report["dry_run"] if "path" in r)
    # Where writes take long, there is time for all of it by fle.
    if written["calls"] != 128 or any(not e["bytes_tried"] < written["bytes"] / 2 for e in written["estimates"] if e["codec"] != "fle"):
        fail("samples of writes", written)

    compared = 0
    for bound, codec in ("abs=0.003", "fle"), ("rel=0.001", "huffman"):
        real, said = run(bound, ",".join(OPERATIONS), "--codec", codec)
        if said.count("largest error 0\n"):
            fail("nothing was lossy", said)
        when = real["timeline"]  # each byte and call once, whatever the bins
        if abs(sum(when["bytes_written"]) - 128 * 2 * BLOCK) > 1000 or sum(when["calls"]) < 128 + 200 or len(when["calls"]) > 1000:
            fail("time line", when)
        for row in real["collectives"]:
            for e in rows[row["name"]]["estimates"]:
                if (e["bound"], e["codec"]) == (bound, codec) and row["calls_compressed"]:
                    compared += 1
                    if not 0.9 < e["ratio"] / row["ratio"] < 1.1:
                        fail(row["name"], bound, codec, "estimated", e["ratio"], "real", row["ratio"])
    if compared < 8:
        fail("only", compared, "ratios were compared")
    print(compared, "ratios within a tenth")
    return 0


if __name__ == "__main__":
    os.environ |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    for variable in [v for v in os.environ if v.startswith("ZMPI_") and not v.startswith("ZMPI_TEST_")]:
        del os.environ[variable]
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        status = main()
        os.chdir("/")
    sys.exit(status)
