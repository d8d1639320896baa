#!/usr/bin/env python3
"""dry_run.py: a dry run converts nothing, writes what the program wrote, and its ratios are within a tenth of the real ones."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

DATA = os.environ.get("ZMPI_DATA", "/nonexistent")
ZMPI = os.path.join(os.environ["ZMPI_TEST_BIN"], "zmpi")
SOURCE = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
/* OUT NZ NY NX IN ...: each field by planes, collectively, then once more by independent calls */
int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 1; i + 4 < argc; i += 5) {
        const int size[3] = {atoi(argv[i + 1]), atoi(argv[i + 2]), atoi(argv[i + 3])};
        const int part[3] = {size[0] / ranks, size[1], size[2]}, at[3] = {rank * part[0], 0, 0};
        const int count = part[0] * part[1] * part[2];
        const MPI_Offset begin = (MPI_Offset)rank * count * 4;
        float *data = malloc((size_t)count * 4);
        FILE *in = fopen(argv[i + 4], "rb");
        char name[256];
        MPI_Datatype planes;
        MPI_File f;
        if (!in || fseek(in, (long)begin, SEEK_SET) || fread(data, 4, (size_t)count, in) != (size_t)count)
            MPI_Abort(MPI_COMM_WORLD, 1);
        fclose(in);
        MPI_Type_create_subarray(3, size, part, at, MPI_ORDER_C, MPI_FLOAT, &planes);
        MPI_Type_commit(&planes);
        snprintf(name, sizeof name, "%s_all.z", argv[i]);
        MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &f);
        MPI_File_set_view(f, 0, MPI_FLOAT, planes, "native", MPI_INFO_NULL);
        MPI_File_write_all(f, data, count, MPI_FLOAT, MPI_STATUS_IGNORE);
        MPI_File_close(&f);
        snprintf(name, sizeof name, "%s_at.z", argv[i]);
        MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &f);
        MPI_File_write_at(f, begin, data, count, MPI_FLOAT, MPI_STATUS_IGNORE);
        MPI_File_close(&f);
        MPI_Type_free(&planes);
        free(data);
    }
    MPI_Finalize();
    return 0;
}
"""
FIELDS = [("sperr_vorticity_41x128x128.f32", 40, 128, 128), ("echam_rhumidity_17x96x192.f32", 16, 96, 192),
          ("les_wmag_91x91x91.f32", 90, 91, 91)]
RANKS = 1  # whose arrays are larger than what is coded of them, but for the second
TRIED = ["lossless", "rel=0.01", "rel=0.001", "rel=0.0001", "rel=1e-05"]


def fail(*what):
    sys.exit("FAIL: " + " ".join(str(w) for w in what))


def run(*options, programs):
    names = [a for p in programs for a in p]
    done = subprocess.run(["mpirun", "-n", str(RANKS), ZMPI, "run", *options, "./program", *names], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=120)
    if done.returncode:
        fail("status", done.returncode, done.stdout)
    return done.stdout


def build():
    with open("program.c", "w", encoding="utf-8") as out:
        out.write(SOURCE)
    subprocess.run(["mpicc.openmpi", "-O1", "-o", "program", "program.c"], check=True)


def main():
    fields = [f for f in FIELDS if os.path.exists(os.path.join(DATA, f[0]))]
    if not fields or not shutil.which("mpicc.openmpi"):
        print("no fields, or no Open MPI")
        return 77
    build()
    names = [f[0].split("_")[0] for f in fields]
    programs = [(n, *map(str, f[1:]), os.path.join(DATA, f[0])) for n, f in zip(names, fields)]

    estimate, said = {}, ""
    for name, program in zip(names, programs):  # one by one: each run has time for some samples
        said += run("--dry-run", "-e", "abs=0.5", "--report", "dry.json", programs=[program])
        with open("dry.json", encoding="utf-8") as text:
            report = json.load(text)
        rows = report["dry_run"]
        # Its files are plain ones, and on the time line as such.
        if not 0.999 < sum(report["timeline"]["bytes_written_plain"]) / sum(r["bytes"] for r in rows) < 1.001 or \
                sum(report["timeline"]["calls"]) != len(rows) or sum(report["timeline"]["bytes_written"]):
            fail("time line", report["timeline"])
        for row in rows:
            estimate |= {(row["path"], e["bound"], e["codec"]): e["ratio"] for e in row["estimates"]
                         if e["bytes_tried"] > 0.9 * row["bytes"]}
            size = row["bytes"]
            with open(row["path"], "rb") as a, open(program[4], "rb") as b:
                if a.read() != b.read(size):
                    fail(row["path"], "is not what was written")
        if sorted(r["path"] for r in rows) != [f"{name}_all.z", f"{name}_at.z"] or rows[0]["bound"] != "abs=0.5":
            fail("rows", rows)
    if said.count("nothing was compressed") != len(names):
        fail("a line for each run", said)

    compared = 0
    for codec in ("fle", "huffman", "interp"):
        for bound in TRIED:
            if not any(k[1:] == (bound, codec) for k in estimate):
                continue
            for name in names:
                for kind in ("all", "at"):
                    os.path.exists(f"{name}_{kind}.z") and os.unlink(f"{name}_{kind}.z")
            environment = os.environ | {"ZMPI_LEAST_RATIO": "0"}
            subprocess.run(["mpirun", "-n", str(RANKS), ZMPI, "run", "-e", bound, "--codec", codec, "--report", "real.json", "./program",
                            *[a for p in programs for a in p]], check=True, env=environment, stderr=subprocess.DEVNULL, timeout=120)
            with open("real.json", encoding="utf-8") as text:
                for row in json.load(text)["files"]:
                    expected = estimate.get((row["path"], bound, codec))
                    if expected is None:
                        continue
                    compared += 1
                    if not 0.9 < expected / row["ratio"] < 1.1:
                        fail(row["path"], bound, codec, "estimated", expected, "real", row["ratio"])
    # What a dry run writes into a container that is there is exact.
    os.environ["ZMPI_LEAST_RATIO"] = "0"  # it stays one
    run("--dry-run", "-e", "abs=0.5", programs=programs)
    for name, program in zip(names, programs):
        for kind in ("all", "at"):
            plain = subprocess.run([ZMPI, "cat", f"{name}_{kind}.z"], check=True, stdout=subprocess.PIPE).stdout
            with open(program[4], "rb") as b:
                if plain != b.read(len(plain)) or not plain:
                    fail(name, kind, "is not what a dry run wrote into a container")

    if compared < 6 * len(names):
        fail("only", compared, "ratios were compared")
    print(compared, "ratios within a tenth")
    return 0


def in_a_folder(test):
    """The status of a test in a folder of its own, without settings."""
    os.environ |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    for variable in [v for v in os.environ if v.startswith("ZMPI_") and not v.startswith("ZMPI_TEST_")]:
        del os.environ[variable]
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        status = test()
        os.chdir("/")
    return status


if __name__ == "__main__":
    sys.exit(in_a_folder(main))
