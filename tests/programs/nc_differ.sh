#!/bin/bash
# nc_differ.sh DELTA PLAIN OTHER: do two files of PnetCDF differ, in any value by more than DELTA?
set -euo pipefail
mpirun.openmpi -n 1 ncmpidiff -q -t "$1,0" "$2" "$3"
