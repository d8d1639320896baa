#!/bin/bash
# test_s390x.sh [quick] [-R REGEX]: cross-compile the codec for s390x, a big-endian machine, and run its tests in
# qemu-user: the golden files, which an x86-64 made, are made byte for byte. quick: these and the kernels alone, a minute.
# Other arguments go to ctest too.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

targets=(all)
if [[ ${1-} == quick ]]; then
    targets=(unit_golden unit_kernels)
    set -- -R 'unit\.(golden|kernels)$' "${@:2}"
fi
need_packages cmake ninja-build pkg-config libxxhash-dev \
    gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user

# Not -O3: that takes long to compile, and all of it runs in an emulator.
cmake --preset s390x --log-level=WARNING -DZMPI_WERROR=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DCMAKE_C_FLAGS_RELWITHDEBINFO="-O2 -DNDEBUG"
cmake --build build-s390x --parallel "$(nproc)" --target "${targets[@]}"
if ! command -v qemu-s390x >/dev/null && ! command -v qemu-s390x-static >/dev/null; then
    echo "== s390x: compiled, not run: no qemu-s390x on this machine"
    exit
fi
ctest --test-dir build-s390x --parallel "$(nproc)" --output-on-failure --no-tests=error "$@"
