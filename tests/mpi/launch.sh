# shellcheck shell=sh disable=SC2034
# launch.sh: what scripts that start MPI programs by $MPIEXEC share. Sourced.
#   flags      options with which there may be more ranks than cores
#   open_mpi   not empty if the launcher is Open MPI's
flags=
open_mpi=
if "$MPIEXEC" --version 2>&1 | grep -qE 'Open MPI|OpenRTE'; then
    flags=--oversubscribe
    open_mpi=yes
fi

# with_late PROGRAM: $program is its path, and $preload has, behind libzmpi.so, what makes messages late and puts each rank on a node
# of its own (damage/late.c, nodes.c). The test is skipped if these were not built.
with_late() {
    program=$ZMPI_TEST_BIN/tests/$1
    behind=$(dirname "${ZMPI_TEST_LIB%%:*}")
    [ -x "$program" ] && [ -e "$behind/libdamage_late.so" ] || exit 77
    preload=$ZMPI_TEST_LIB:$behind/libdamage_late.so:$behind/libdamage_nodes.so
}
