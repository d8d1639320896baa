#!/bin/sh
# examples.sh - docs/examples: each compiles without warnings, those in C++ and Fortran too, runs, and needs no MPI; errors name the
# file.
set -eu
zmpi=$ZMPI_TEST_BIN/zmpi
lib=$ZMPI_TEST_BIN/../lib
from=$ZMPI_TEST_SOURCE/docs/examples

fail() {
    echo "FAIL: $*"
    exit 1
}

# compile COMPILER FILE PROGRAM
compile() {
    "$1" -Wall -Wextra -Werror -O1 -I"$ZMPI_TEST_SOURCE/codec" "$from/$2" -o "$3" -L"$lib" -lzmpi_codec -lm -Wl,-rpath,"$lib"
    if readelf -d "$3" | grep NEEDED | grep -i mpi | grep -v zmpi_codec; then fail "$2 needs an MPI library"; fi
}

python3 - <<'END'
import struct
open("raw", "wb").write(struct.pack("<%df" % 60000, *[i % 500 for i in range(60000)]))
END
"$zmpi" compress -t f32 -d 3x100x200 -e abs=0.01 raw field.z >/dev/null
cp field.z damaged.z
printf 'xxxx' | dd of=damaged.z bs=1 seek=600 conv=notrunc 2>/dev/null
head -c 1000 field.z >cut.z

compile "${CC:-cc}" read_container.c read_container
./read_container field.z >out
printf '240000 bytes, stored as %s\nbytes 0 to 240000: 3x100x200, abs=0.01\n0 1 2 3\n' "$(stat -c %s field.z)" | diff - out ||
    fail "read_container field.z"
./read_container cut.z >out 2>&1 || fail "read_container cut.z"
grep -q '^cut.z: data may be missing' out || fail "read_container cut.z: $(cat out)"
for file in raw missing.z damaged.z; do
    if ./read_container "$file" >out 2>&1; then fail "read_container $file"; fi
    grep -q "^$file: " out || fail "read_container $file: $(cat out)"
done

compile "${CC:-cc}" compress_array.c compress_array
./compress_array | grep -q '^524288 bytes as [0-9]*, no value' || fail "compress_array"

if command -v "${FC:-gfortran}" >/dev/null; then
    "${FC:-gfortran}" -std=f2018 -Wall -Wextra -Werror -O1 "$ZMPI_TEST_SOURCE/codec/fortran/zmpi_reader.f90" "$from/mean.f90" -o mean_f \
        -L"$lib" -lzmpi_codec -Wl,-rpath,"$lib"
    [ "$(./mean_f field.z)" = "field.z 249.500000" ] || fail "mean.f90: $(./mean_f field.z)"
    for file in raw missing.z damaged.z; do
        if ./mean_f "$file" >out 2>&1; then fail "mean.f90 $file"; fi
        grep -q "^$file: " out || fail "mean.f90 $file: $(cat out)"
    done
else
    echo "no Fortran compiler: the example in Fortran is left out"
fi

if ! command -v "${CXX:-c++}" >/dev/null; then
    echo "no C++ compiler: the example in C++ is left out"
    exit 0
fi
compile "${CXX:-c++}" mean.cc mean
[ "$(./mean field.z)" = "field.z 249.500000" ] || fail "mean: $(./mean field.z)"
if ./mean raw 2>out; then fail "mean raw"; fi
grep -q '^raw: is not a zmpi container' out || fail "mean raw: $(cat out)"
# The headers by themselves, in an old C++ and strictly.
for header in zmpi_codec.h zmpi_reader.h; do
    echo "#include <$header>" | "${CXX:-c++}" -std=c++11 -pedantic -Wall -Wextra -Werror -I"$ZMPI_TEST_SOURCE/codec" -fsyntax-only -x c++ - ||
        fail "$header in C++"
done
