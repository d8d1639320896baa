#!/bin/bash
# test_neon.sh [-R REGEX]: cross-compile the codec for AArch64 and run its tests in qemu-user: the NEON kernels against
# the scalar ones, and the golden files, which an x86-64 made. Other arguments go to ctest too.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

need_packages cmake ninja-build pkg-config libxxhash-dev \
    gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user

cmake --preset arm64 --log-level=WARNING -DZMPI_WERROR=ON
cmake --build build-arm64 --parallel "$(nproc)"
if ! command -v qemu-aarch64 qemu-aarch64-static >/dev/null; then
    echo "== NEON kernels: compiled, not run: no qemu-aarch64 on this machine"
    exit
fi
ctest --test-dir build-arm64 --parallel "$(nproc)" --output-on-failure --no-tests=error "$@"
