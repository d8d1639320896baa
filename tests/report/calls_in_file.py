#!/usr/bin/env python3
"""calls_in_file.py: a file tells what its write calls were (format.md 2.10), as the report as JSON does; never what is not so any more; and its
data are read where that list is damaged."""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

ZMPI = os.path.join(os.environ["ZMPI_TEST_BIN"], "zmpi")
READER = os.path.join(os.environ["ZMPI_TEST_SOURCE"], "scripts", "zmpi_reader.py")
SOURCE = r"""
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
enum { NZ = 8, NY = 60, NX = 70, N = NZ * NY * NX, FIVE = 5 };
static int rank, ranks;
static double *data;
static void fill(int call, int parts)
{
    for (int i = 0; i < N * parts; i++)
        data[i] = pow(10, i % parts) * (call + sin(0.1 * (i / parts % NX)) * cos(0.05 * (i / parts / NX)) + 0.2 * rank);
}
static void collective(MPI_File f, int call, int parts)
{
    fill(call, parts);
    MPI_File_write_at_all(f, ((MPI_Offset)call * ranks + rank) * FIVE * N * 8, data, N * parts, MPI_DOUBLE, MPI_STATUS_IGNORE);
}
static void by_view(MPI_File f, int call)
{
    const int size[3] = {NZ * ranks, NY, NX}, part[3] = {NZ, NY, NX}, at[3] = {NZ * rank, 0, 0};
    MPI_Datatype box;
    fill(call, 1);
    MPI_Type_create_subarray(3, size, part, at, MPI_ORDER_C, MPI_DOUBLE, &box);
    MPI_Type_commit(&box);
    MPI_File_set_view(f, (MPI_Offset)call * ranks * FIVE * N * 8, MPI_DOUBLE, box, "native", MPI_INFO_NULL);
    MPI_File_write_all(f, data, N, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_Type_free(&box);
}
static void whole(MPI_File f)
{
    for (int call = 1; call <= 2; call++)
        collective(f, call, 1);
    by_view(f, 3);
    collective(f, 4, FIVE);
    for (int call = 5; call <= 9; call++)
        collective(f, call, 1);
    MPI_File_write_at_all(f, (MPI_Offset)99 * ranks * FIVE * N * 8 + rank * 64, data, 16, MPI_INT, MPI_STATUS_IGNORE);
    if (rank == ranks - 1)
        for (int k = 0; k < 3; k++) {
            fill(20 + k / 2, 1);
            MPI_File_write_at(f, ((MPI_Offset)(20 + k) * ranks) * FIVE * N * 8, data, N, MPI_DOUBLE, MPI_STATUS_IGNORE);
        }
}
int main(int argc, char **argv)
{
    MPI_File f;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    data = malloc((size_t)N * FIVE * 8);
    MPI_File_open(MPI_COMM_WORLD, argv[2], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
    if (strcmp(argv[1], "whole") == 0)
        whole(f);
    for (int call = 1; call <= 2 && strcmp(argv[1], "append") == 0; call++)
        collective(f, 120 + call, 1);
    for (int call = 1; call <= 2 && strcmp(argv[1], "killed") == 0; call++)
        collective(f, 130 + call, 1);
    if (strcmp(argv[1], "killed") == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
        _exit(0);
    }
    if (strcmp(argv[1], "little") == 0)
        MPI_File_write_at_all(f, rank * 64, data, 8, MPI_INT, MPI_STATUS_IGNORE);
    if (strcmp(argv[1], "many") == 0)
        for (int call = 1; call <= 70; call++)
            collective(f, call, 1);
    MPI_File_close(&f);
    MPI_Finalize();
    return 0;
}
"""
RULES = """
[*]
error_bound = rel=1e-3
[field*.bin #1-2]
error_bound = lossless
[field*.bin #7]
error_bound = abs=0.25
"""
POINTER, POINTER_BYTES = 464, 32


def fail(*what):
    sys.exit("FAIL: " + " ".join(str(w) for w in what))


def tool(*arguments, status=0):
    done = subprocess.run([ZMPI, *arguments], capture_output=True, timeout=120)
    if done.returncode != status:
        fail(arguments, "status", done.returncode, "not", status, done.stdout[-2000:], done.stderr)
    return done.stdout


def program(ranks, what, path, **env):
    done = subprocess.run([os.environ["MPIEXEC"], "--oversubscribe", "-n", str(ranks), ZMPI, "run", "./program", what, path],
                          env={**os.environ, **env}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
    if done.returncode and what != "killed":
        fail(what, "status", done.returncode, done.stdout)


def listed(path):
    """The calls in a file; None: it has no list."""
    return json.loads(tool("info", "--json", path)).get("calls")


def read(path):
    with open(path, "rb") as f:
        return f.read()


def section(path):
    offset, length, _, _ = struct.unpack("<4Q", read(path)[POINTER:POINTER + POINTER_BYTES])
    return offset, length


def reported(path):
    with open("r.json", encoding="utf-8") as f:
        files = [f for f in json.load(f)["files"] if f["path"] == path]
    os.unlink("r.json")
    return files[0]["calls"]


def check_bounds(calls, ranks):
    """What the program has written, and by which rules."""
    by = {(k, c.get("rank", -1)): c for c in calls for k in range(c["call"], c["to"] + 1)}
    if [by[k, -1]["bound"] for k in (1, 2, 3, 4, 6, 7, 8)] != ["lossless"] * 2 + ["rel=0.001"] * 3 + ["abs=0.25", "rel=0.001"]:
        fail("bounds", by)
    if by[3, -1]["shape"] != [8, 60, 70] or by[3, -1]["shape_from"] != "view" or by[4, -1]["components"] != 5:
        fail("shapes", by)
    if by[10, -1]["type"] != "i32" or by[10, -1]["exact"] != "not of a float type" or by[3, -1]["values"] != ranks * 8 * 60 * 70:
        fail("types", by)
    own = by[3, ranks - 1], by[1, ranks - 1]
    if own[0]["to"] != 3 or own[1]["bound"] != "lossless" or own[1]["to"] != 2 or own[1]["values"] != 8 * 60 * 70:
        fail("independent calls", own)


def check_like_report():
    for ranks in 1, 2, 3, 4:
        program(ranks, "whole", "field.bin", ZMPI_CONFIG="rules", ZMPI_REPORT="r.json")
        calls, report = listed("field.bin"), reported("field.bin")
        check_bounds(calls, ranks)
        if calls != [{k: v for k, v in c.items() if not k.startswith(("psnr", "fill"))} for c in report]:
            fail("not as in the report", calls, report)
        if any(e is None for c in calls for e in c["errors_on_samples"] if "exact" not in c):
            fail("not measured", calls)
        if any(e > b for c in calls for e, b in zip(c["errors_on_samples"], c["absolute_bounds"]) if b is not None):
            fail("beyond the bound", calls)
        text = tool("info", "-a", "field.bin").decode()
        if text.count("largest error") != 1 or "exact: not of a float type" not in text or "abs=0.25" not in text:
            fail(text)
        tool("verify", "field.bin")
        if section("field.bin")[1] * 100 > os.path.getsize("field.bin"):
            fail("too long", section("field.bin"), os.path.getsize("field.bin"))
        without = read("field.bin") and listed_without_report(ranks)
        for a, b in zip(calls, without):
            if {k: v for k, v in a.items() if k not in UNSURE} != {k: v for k, v in b.items() if k not in UNSURE}:
                fail("without a report", a, b)
        if len(calls) != len(without):
            fail("without a report", without)


UNSURE = ("errors_on_samples", "ranges")  # without a report fewer samples are taken, or none


def listed_without_report(ranks):
    os.unlink("field.bin")
    program(ranks, "whole", "field.bin", ZMPI_CONFIG="rules")
    return listed("field.bin")


def check_later_sessions():
    program(2, "append", "field.bin", ZMPI_CONFIG="rules")
    info = json.loads(tool("info", "--json", "field.bin"))
    if not info["calls_appended"] or [(c["call"], c["to"], c["bound"]) for c in info["calls"]] != [(1, 2, "lossless")]:
        fail("appended", info["calls"])
    if b"the last program that added data" not in tool("info", "-a", "field.bin"):
        fail("appended, as text")
    shutil.copy("field.bin", "before")
    program(2, "little", "field.bin", ZMPI_CONFIG="rules")
    if [(c["call"], c["type"], c["values"]) for c in listed("field.bin")] != [(1, "i32", 16)]:
        fail("a session of one small call", listed("field.bin"))
    shutil.copy("before", "field.bin")
    program(2, "killed", "field.bin", ZMPI_CONFIG="rules")
    if listed("field.bin") != info["calls"]:
        fail("that of the last close", listed("field.bin"), tool("info", "field.bin").decode()[:600])
    tool("fsck", "--repair", "field.bin")
    if listed("field.bin") is not None or b"calls" in tool("info", "-a", "field.bin"):
        fail("the list is of other records")
    tool("verify", "field.bin")
    shutil.copy("before", "field.bin")
    program(2, "whole", "field.bin", ZMPI_CONFIG="rules")  # its close gives the space of the first data back
    check_bounds(listed("field.bin"), 2)
    tool("verify", "field.bin")
    before = listed("field.bin")
    tool("trim", "field.bin")
    if listed("field.bin") != before:
        fail("trimmed")
    tool("verify", "field.bin")


def check_damage():
    offset, length = section("field.bin")
    good, data = read("field.bin"), tool("cat", "field.bin")
    for at in (POINTER, POINTER + 8, POINTER + 31, offset, offset + 4, offset + 16, offset + 24, offset + 70, offset + length - 1):
        with open("bad.bin", "wb") as f:
            f.write(good[:at] + bytes([good[at] ^ 0x10]) + good[at + 1:])
        lines = [line for line in tool("info", "-a", "bad.bin").decode().splitlines() if "damaged" in line]
        found = tool("verify", "bad.bin", status=0 if at < offset else 1)
        if at < offset:  # so does a program that is killed while it writes the pointer
            if lines or listed("bad.bin") is not None:
                fail("damaged pointer at", at, lines)
        elif lines != ["calls          the list is damaged, the data are not"]:
            fail("damage at", at, lines)
        elif b"the list of its write calls is damaged, its data are not" not in found:
            fail("verify, damage at", at)
        if tool("cat", "bad.bin") != data:
            fail("other data, damage at", at)
    if subprocess.run([sys.executable, READER, "cat", "bad.bin"], check=True, stdout=subprocess.PIPE).stdout != data:
        fail("the independent reader has other data")
    tool("trim", "bad.bin")
    tool("verify", "bad.bin")
    if listed("bad.bin") is not None or tool("cat", "bad.bin") != data:
        fail("trimmed after damage")


def check_sizes():
    program(2, "little", "small.bin", ZMPI_CONFIG="rules")
    if read("small.bin")[:4] == b"\x89ZMP" and (listed("small.bin") is not None or any(read("small.bin")[POINTER:POINTER + POINTER_BYTES])):
        fail("a small file has a list")
    program(1, "many", "many.bin", ZMPI_ERROR_BOUND="rel=1e-3")
    info = json.loads(tool("info", "--json", "many.bin"))
    if len(info["calls"]) != 64 or not info["more_calls"] or b"... and more" not in tool("info", "-a", "many.bin"):
        fail("of many calls", len(info["calls"]))


def main():
    folder = tempfile.mkdtemp()
    try:
        os.chdir(folder)
        os.environ.pop("LD_PRELOAD", None)
        with open("program.c", "w", encoding="utf-8") as out:
            out.write(SOURCE)
        subprocess.run(["mpicc.openmpi", "-O1", "-o", "program", "program.c", "-lm"], check=True)
        with open("rules", "w", encoding="utf-8") as out:
            out.write(RULES)
        check_like_report()
        check_later_sessions()
        check_damage()
        check_sizes()
    finally:
        os.chdir("/")
        shutil.rmtree(folder)


main()
