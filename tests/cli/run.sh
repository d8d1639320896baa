#!/bin/bash
# run.sh: zmpi run finds the libzmpi.so of a program's MPI, checks settings before the program starts, speaks once a job, and
# leaves exit status, arguments and signals to the program.
set -u
zmpi=$ZMPI_TEST_BIN/zmpi
libraries=$ZMPI_TEST_BIN/../lib/zmpi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
unset "${!ZMPI_@}" "${!OMPI_COMM_WORLD_@}" PMI_RANK PMIX_RANK MPI_LOCALNRANKS SLURM_PROCID
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

fail() {
    printf 'FAIL: %s\n' "$*"
    cat out
    exit 1
}

# lines N TEXT: so many lines of what was said have it.
lines() {
    (($(grep -c -- "$2" out) == $1)) || fail "not $1 lines with '$2'"
}

cat >program.c <<'C'
#include <mpi.h>
#include <math.h>
#include <stdlib.h>
static double data[100000];
int main(int argc, char **argv)
{
    MPI_File f;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 100000; i++)
        data[i] = sin(0.001 * i);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &f);
    MPI_File_write_at_all(f, (MPI_Offset)rank * 800000, data, 100000, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_close(&f);
    MPI_Finalize();
    return atoi(argv[2]);
}
C

# try KIND LAUNCHER...: with this MPI, by the program's file, by the launcher, and told wrongly.
try() {
    local kind=$1 other=mpich
    shift
    [[ $kind != mpich ]] || other=openmpi
    "mpicc.$kind" -o "$kind" program.c -lm || fail "mpicc.$kind"
    timeout 60 "$@" "$zmpi" run -v -e rel=1e-3 --report r.json "./$kind" a.z 0 >out 2>&1 || fail "$kind: status $?"
    lines 1 "MPI is $kind (the program's file)"
    [[ -s r.json ]] || fail "$kind: no report"
    "$zmpi" info a.z >out || fail "$kind: no container"
    ZMPI_ERROR_BOUND=lossless timeout 60 "$@" "$zmpi" run -v -e rel=1e-2 -- sh -c "./$kind b.z 0" >out 2>&1 || fail "$kind by sh"
    lines 1 "MPI is $kind (the launcher)"
    (($(stat -c %s b.z) < $(stat -c %s a.z))) || fail "$kind: an option is not stronger than the environment"
    ! timeout 60 "$@" "$zmpi" run -e rel=1e-3 --mpi "$other" "./$kind" c.z 0 >out 2>&1 || fail "$kind: a wrong --mpi"
    grep -qE -e '--mpi NAME|no libzmpi.so for its MPI' out || fail "$kind: a wrong --mpi is not told of"
    ! timeout 60 "$@" "$zmpi" run -e rel=oops "./$kind" d.z 0 >out 2>&1 || fail "$kind: a wrong bound"
    lines 1 'ZMPI_ERROR_BOUND=rel=oops'
    [[ ! -e d.z ]] || fail "$kind: the program ran"
    # Files that are there already stay plain if they are not written anew; the report names them, and says why.
    head -c 3000000 /dev/zero >e.z
    cp e.z f.h5
    local name
    for name in e.z f.h5; do
        timeout 60 "$@" "$zmpi" run -e rel=1e-3 --report r.json "./$kind" $name 0 >out 2>&1 || fail "$kind: $name"
        "$zmpi" info $name >/dev/null 2>&1 && fail "$kind: $name became a container"
        grep -oE '"path": "[a-z.0-9]*", "why": "[a-z ]*", "new": [a-z]*' r.json >>out
    done
    lines 1 'zmpi 1 file left plain: not selected by ZMPI_FILES (f.h5)'
    lines 1 '"path": "f.h5", "why": "not selected", "new": false'
    timeout 60 "$@" "$zmpi" run -e rel=1e-3 --report r.json "./$kind" e.z 0 >out 2>&1
    lines 1 'zmpi 1 file left plain: existed before, .* (e.z)'
    rm -f f.h5
    timeout 60 "$@" "$zmpi" run -e rel=1e-3 --report r.json "./$kind" f.h5 0 >out 2>&1
    lines 1 'zmpi 1 file left plain: not selected by ZMPI_FILES (f.h5)'
    grep -q '"new_files_not_selected": 1' r.json && grep -q '"why": "not selected", "new": true' r.json || fail "$kind: a new file in the report"
    rm -f a.z b.z c.z e.z f.h5 r.json
}

tried=0
for kind in openmpi mpich; do
    [[ -e $libraries/$kind/libzmpi.so ]] && command -v "mpicc.$kind" "mpirun.$kind" >/dev/null || continue
    flags=()
    [[ $kind != openmpi ]] || flags=(--oversubscribe)
    try $kind "mpirun.$kind" "${flags[@]}" -n 2
    tried=1
done

# A program of the standard ABI is known by its library, there or not.
echo 'int PMPI_Init(int *c, char ***v); int PMPI_Init(int *c, char ***v) { return c == 0 && v == 0; }' >abi.c
echo 'int PMPI_Init(int *, char ***); int main(int n, char **v) { return n < 0 ? PMPI_Init(&n, &v) : 43; }' >main.c
cc -shared -fPIC -o libmpi_abi.so.1 -Wl,-soname,libmpi_abi.so.1 abi.c && cc -o abi main.c ./libmpi_abi.so.1 -Wl,-rpath,"$work" ||
    fail "a program of the standard ABI"
is_abi="MPI is abi (the program's file)\\|no libzmpi.so for its MPI, abi, is installed"
"$zmpi" run -v -e rel=1e-3 ./abi >out 2>&1
(($? == 43)) || fail "abi: status"
lines 1 "$is_abi"
rm libmpi_abi.so.1
"$zmpi" run -v -e rel=1e-3 ./abi >out 2>&1
lines 1 "$is_abi"

# Open MPI 6: what tells it apart lies in a library behind the MPI library.
echo 'char ompi_mpi_comm_world[8];' >open_mpi.c
cc -shared -fPIC -o libopen_mpi.so.40 -Wl,-soname,libopen_mpi.so.40 open_mpi.c &&
    cc -shared -fPIC -o libmpi.so.40 -Wl,-soname,libmpi.so.40 -Wl,--no-as-needed abi.c ./libopen_mpi.so.40 -Wl,-rpath,"$work" &&
    cc -o ompi6 main.c ./libmpi.so.40 -Wl,-rpath,"$work" || fail "a program of Open MPI 6"
"$zmpi" run -v -e rel=1e-3 ./ompi6 >out 2>&1
lines 1 "MPI is openmpi (the program's file)\\|no libzmpi.so for its MPI, openmpi, is installed"
rm libmpi.so.40 libopen_mpi.so.40

# Alone, and programs that cannot be helped.
"$zmpi" run -e rel=1e-3 sh -c 'exit 41' >out 2>&1
(($? == 41)) || fail "exit status"
lines 1 'zmpi cannot tell which MPI it uses'
"$zmpi" run -e rel=1e-3 --mpi openmpi sh -c 'kill -TERM $$' >out 2>&1
(($? == 143)) || fail "signals"
"$zmpi" run ./not-there >out 2>&1
(($? == 127)) || fail "status of no program"
lines 1 'there is no such program'
"$zmpi" run >out 2>&1 && fail "no program"
"$zmpi" run --mpi nothing ls >out 2>&1 && fail "no such MPI"
lines 1 'openmpi, mpich or abi'
"$zmpi" run ls --help >out 2>&1 || fail "the program's --help"
lines 0 'usage: zmpi'
"$zmpi" run --help >out 2>&1 || fail "--help"
lines 1 'usage: zmpi run'
printf '#!/bin/sh\necho "$LD_PRELOAD|$#|$2"\n' >script
chmod +x script
LD_PRELOAD='' "$zmpi" run --mpi openmpi ./script 'a b' 'c  d' >out 2>&1 || fail "a script"
grep -q '|2|c  d$' out || fail "arguments"
if printf 'int main(void){return 3;}' | gcc -static -x c -o static - 2>/dev/null; then
    "$zmpi" run -e rel=1e-3 ./static >out 2>&1
    (($? == 3)) || fail "a static program"
    lines 1 'linked statically'
fi
((tried)) || exit 77
