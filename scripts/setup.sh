#!/bin/bash
# setup.sh: prepares a Debian machine, or a container, for work on zmpi: it installs packages (as root, or by sudo) and builds in
# build/.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

scripts/test.sh --packages
need_packages clang-format clang-tidy shellcheck clang gdb
cmake --preset release -B build --log-level=WARNING -DMPI_C_COMPILER=mpicc.openmpi -DBUILD_TESTING=ON
cmake --build build --parallel "$(nproc)"
echo "ctest --test-dir build -R '^unit' runs the unit tests; scripts/check.sh looks at format, scripts and links"
