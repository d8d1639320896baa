#!/usr/bin/env python3
"""zmpi check: what it says of programs of all kinds, and that no damaged file makes it crash."""
import json
import os
import random
import subprocess
import sys

BIN = os.environ["ZMPI_TEST_BIN"]
ZMPI = os.path.join(BIN, "zmpi")
CC = os.environ.get("CC", "cc")


def run(*arguments):
    done = subprocess.run([ZMPI, "check", *arguments], text=True, errors="replace", stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stdout, done.stderr


def expect(status, text, *arguments):
    got, out, err = run(*arguments)
    if got != status or text not in out + err:
        sys.exit(f"FAIL: check {' '.join(arguments)}: status {got}, expected {status} and \"{text}\":\n{out}{err}")
    return out


def build(name, source, *flags):
    subprocess.run([CC, "-x", "c", "-", "-o", name, *flags], input=source, text=True, check=True)
    return name


def callers(program):
    """What --json says, by file name."""
    report = json.loads(expect(0, "", "--json", program))
    return report, {os.path.basename(caller["path"]): caller for caller in report["callers"]}


def test_programs():
    """Real programs: C, and Fortran if there is a compiler for it."""
    program = os.path.join(BIN, "wave3d")
    report, by_name = callers(program)
    assert "MPI_File_write_all" in by_name["wave3d"]["covers"], by_name
    assert "MPI_Comm_rank" in by_name["wave3d"]["passes"], by_name
    assert by_name["wave3d"]["fortran"] == "none" and not by_name["wave3d"]["refuses"], by_name
    assert len(by_name) == 1 and not report["static"] and not report["missing"], report
    assert report["mpi"].startswith(("libmpi.so", "libmpich.so")), report
    expect(0, "MPI_Comm_rank", "-a", program)
    assert "MPI_Comm_rank" not in expect(0, "others (-a lists them)", program)
    for binding, says in (("header", "mpif.h or mpi"), ("module", "mpif.h or mpi"), ("f08", "mpi_f08")):
        program = os.path.join(BIN, "tests", "fortran_" + binding)
        if os.path.exists(program):
            caller = callers(program)[1]["fortran_" + binding]
            assert caller["fortran"] == says, caller
            assert {"MPI_File_set_view", "MPI_Gather", "MPI_File_write_at_all_end"} <= set(caller["covers"]), caller
            assert {"MPI_File_create_errhandler", "MPI_Info_set"} <= set(caller["passes"]), caller


def test_kinds():
    """Programs made here: libraries found and not found, MPI inside, functions that only newer MPIs have."""
    os.makedirs("libs", exist_ok=True)
    build("libs/libinner.so", "int MPI_File_read_at(void); int inner(void) { return MPI_File_read_at(); }", "-shared",
          "-fPIC", "-Wl,-soname,libinner.so")
    build("libs/liblost.so", "int lost(void) { return 0; }", "-shared", "-fPIC", "-Wl,-soname,liblost.so")
    outer = ("int inner(void), lost(void), MPI_File_newer(void), PMPI_File_open(void), mpi_file_close_(void);"
             "int mpi_fortran_bottom_(void), MPI_File_write_c(void), gcry_mpi_add_(void); void *dlopen(void);"
             "int main(void) { dlopen(); gcry_mpi_add_(); return inner() + lost() + MPI_File_newer() + PMPI_File_open()"
             " + mpi_file_close_() + mpi_fortran_bottom_() + MPI_File_write_c(); }")
    build("outer", outer, "-Llibs", "-linner", "-llost", "-fno-builtin", "-Wl,-rpath,$ORIGIN/libs",
          "-shared", "-fPIC")
    os.unlink("libs/liblost.so")
    report, by_name = callers("outer")
    assert report["missing"] == ["liblost.so"] and report["dlopen"] and report["mpi"] is None, report
    assert by_name["libinner.so"]["covers"] == ["MPI_File_read_at"], by_name
    assert by_name["outer"]["covers"] == ["MPI_File_close", "MPI_File_open", "MPI_File_write_c"], by_name
    assert by_name["outer"]["refuses"] == ["MPI_File_newer"], by_name
    expect(0, "cannot see: liblost.so: not found", "outer")
    expect(0, "dlopen", "outer")

    inside = "int PMPI_Init(void) { return 0; } int MPI_File_open(void) { return 0; } int main(void) { return 0; }"
    build("inside", inside)
    expect(1, "MPI is part of this file", "inside")
    expect(1, "no call that zmpi covers", ZMPI)
    build("object.o", inside, "-c")
    expect(2, "no program and no shared library", "object.o")
    expect(2, "script", __file__)
    with open("empty", "wb"):
        pass
    expect(2, "not an ELF file", "empty")
    expect(2, "No such file", "nothing")
    expect(2, "not a regular file", ".")
    expect(2, "usage")


def survives(data):
    with open("damaged", "wb") as file:
        file.write(data)
    for arguments in (["damaged"], ["--json", "damaged"]):
        status, out, err = run(*arguments)
        if status not in (0, 1, 2) or (status == 2) != bool(err) or err.count("\n") > 1:
            sys.exit(f"FAIL: status {status} for the file \"damaged\" in {os.getcwd()}:\n{out}{err}")
    return status


def test_damage():
    """Cut off anywhere, bytes changed anywhere: an answer or one line, never a crash."""
    rng = random.Random(1)
    build("victim", "int MPI_Init(void), MPI_File_open(void); int main(void) { return MPI_Init() + MPI_File_open(); }",
          "-shared", "-fPIC")
    with open("victim", "rb") as file:
        data = file.read()
    sections = int.from_bytes(data[40:48], "little")
    assert survives(data) == 0
    for length in [*range(0, 70, 7), *(rng.randrange(len(data)) for _ in range(80)), len(data) - 1]:
        assert survives(data[:length]) == 2
    for _ in range(300):
        broken = bytearray(data)
        for _ in range(rng.randrange(1, 4)):
            start, end = rng.choice([(0, 64), (sections, len(data)), (0, len(data))])
            broken[rng.randrange(start, end)] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])
        survives(bytes(broken))


test_programs()
test_kinds()
test_damage()
