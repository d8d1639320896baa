#!/bin/bash
# task_prolog.sh: srun's task prolog, by which the programs of a job get libzmpi.so without a change of their command line.
#
#   LIBZMPI=/path/lib/zmpi/openmpi/libzmpi.so ZMPI_ERROR_BOUND=rel=1e-3 srun --task-prolog=scripts/slurm/task_prolog.sh ./simulation
#
# LIBZMPI is the library for the program's MPI. A site names a copy of this script as TaskProlog in slurm.conf: then jobs that
# set ZMPI_ERROR_BOUND or ZMPI_CONFIG have zmpi, others are as without. Slurm puts what a line "export NAME=VALUE" says into
# the environment of the task, and "print" lines into its output. `srun zmpi run ./simulation` needs no prolog.
[[ ${LIBZMPI-} && (${ZMPI_ERROR_BOUND-} || ${ZMPI_CONFIG-}) && ! ${ZMPI_OFF-} ]] || exit 0
if [[ -r $LIBZMPI ]]; then
    echo "export LD_PRELOAD=$LIBZMPI${LD_PRELOAD:+:$LD_PRELOAD}"
else
    echo "print task_prolog.sh: LIBZMPI=$LIBZMPI cannot be read: this job runs without zmpi"
fi
