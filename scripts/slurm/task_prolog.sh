#!/bin/bash
# task_prolog.sh: srun's task prolog, which gives libzmpi.so to the programs of a job without a change of their command line.
#
#   LIBZMPI=/path/lib/zmpi/openmpi/libzmpi.so ZMPI_ERROR_BOUND=rel=1e-3 srun --task-prolog=scripts/slurm/task_prolog.sh ./simulation
#
# LIBZMPI is the library for the program's MPI. A site names a copy of this script as TaskProlog in slurm.conf: then zmpi is in
# front of jobs that set ZMPI_ERROR_BOUND or ZMPI_CONFIG; other jobs run as without. Slurm puts the prolog's lines "export
# NAME=VALUE" into the environment of the task, and "print" lines into its output. `srun zmpi run ./simulation` needs no prolog.
[[ ${LIBZMPI-} && (${ZMPI_ERROR_BOUND-} || ${ZMPI_CONFIG-}) && ! ${ZMPI_OFF-} ]] || exit 0
if [[ -r $LIBZMPI ]]; then
    echo "export LD_PRELOAD=$LIBZMPI${LD_PRELOAD:+:$LD_PRELOAD}"
else
    echo "print task_prolog.sh: LIBZMPI=$LIBZMPI cannot be read: this job runs without zmpi"
fi
