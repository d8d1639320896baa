#!/bin/sh
# test.sh CMAKE BUILD_DIR MPICC MPIEXEC: a program finds the installed library with CMake and with pkg-config, and runs.
set -eu
cmake=$1
build=$2
mpicc=$3
mpiexec=$4
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$cmake" --install "$build" --prefix "$work/prefix"

# The library must stand before MPI, or its MPI_* are never called.
check() {
    echo "== $1"
    readelf -d "$1" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -E 'zmpi|mpi' | head -n 1 | grep zmpi
    "${2:-$mpiexec}" -n 1 "$1"
}

"$cmake" -G Ninja -S "$here/consumer" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix"
"$cmake" --build "$work/build"
check "$work/build/consumer"

pc=$(dirname "$(find "$work/prefix" -name zmpi.pc)")
PKG_CONFIG_PATH=$pc
export PKG_CONFIG_PATH
libdir=$(pkg-config --variable=libdir zmpi)
# shellcheck disable=SC2046 # several words are meant
"$mpicc" -o "$work/consumer" "$here/consumer/consumer.c" $(pkg-config --cflags --libs zmpi) -Wl,-rpath,"$libdir"
check "$work/consumer"

# With another MPI, that one's library; it says so where there is none.
for kind in openmpi mpich; do
    command -v mpicc.$kind mpirun.$kind >/dev/null && [ -d "$libdir/zmpi/$kind" ] || continue
    "$cmake" -G Ninja -S "$here/consumer" -B "$work/$kind" -DCMAKE_PREFIX_PATH="$work/prefix" -DMPI_C_COMPILER=mpicc.$kind
    "$cmake" --build "$work/$kind"
    check "$work/$kind/consumer" "mpirun.$kind"
    mv "$libdir/zmpi/$kind" "$work/away"
    "$cmake" -G Ninja -S "$here/consumer" -B "$work/no-$kind" -DCMAKE_PREFIX_PATH="$work/prefix" -DMPI_C_COMPILER=mpicc.$kind \
        >"$work/out" 2>&1 && exit 1
    tr -s ' \n' ' ' <"$work/out" | grep -q "libzmpi.so is not there" || { cat "$work/out"; exit 1; }
    mv "$work/away" "$libdir/zmpi/$kind"
done

# The codec alone, by a program that knows no MPI, where none can be found.
"$cmake" -G Ninja -S "$here/codec_consumer" -B "$work/codec" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON
"$cmake" --build "$work/codec"
# shellcheck disable=SC2046
cc -o "$work/codec/by_hand" "$here/codec_consumer/consumer.c" $(pkg-config --cflags --libs zmpi_codec) -Wl,-rpath,"$libdir"
for one in consumer by_hand; do
    readelf -d "$work/codec/$one" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -E 'libmpi|libzmpi\.' && exit 1
    "$work/codec/$one" "$work/nothing" | grep "^$work/nothing: No such file"
done

# The Python package finds the codec from where it lies, moved too.
cp -a "$work/prefix" "$work/other"
for one in prefix other; do
    PYTHONPATH=$work/$one/lib/python3/dist-packages python3 -c 'import zmpi; assert zmpi.decompress(zmpi.compress(b"1234", "lossless")) is not None'
done

# Documents' links lead somewhere, and the independent reader lies where they say.
docs=$(dirname "$(find "$work/prefix" -path '*/doc/*' -name CHANGELOG.md)")
(cd "$docs" && grep -rHoE --include='*.md' '\]\([^) ]+\)' .) | while IFS=: read -r file link; do
    link=${link#*](}
    link=${link%)}
    link=${link%%#*}
    case $link in '' | *://*) continue ;; esac
    [ -e "$docs/$(dirname "$file")/$link" ] || { echo "$file: $link is not there"; exit 1; }
done
head -c 40000 "$here/test.sh" >"$work/bytes"
"$work/prefix/bin/zmpi" compress -t f32 -e lossless "$work/bytes" "$work/bytes.z"
"$docs/scripts/zmpi_reader.py" cat "$work/bytes.z" | cmp - "$work/bytes"

# The site's settings are those of the prefix, wherever it is.
mkdir -p "$work/other/etc/zmpi"
printf '[*]\nerror_bound = rel=3e-5\n' >"$work/other/etc/zmpi/zmpi.conf"
"$work/other/bin/zmpi" options | grep -F "now rel=3e-05" | grep -F "$(realpath "$work")/other/etc/zmpi/zmpi.conf"

# Fortran's modules, as they are installed: `use zmpi` has the reader's names too.
if command -v "${FC:-gfortran}" >/dev/null; then
    include=$work/prefix/include
    printf '%s\n' 'use zmpi' 'type(zmpi_file) :: file' 'type(zmpi_file_stats) :: stats' 'integer :: i' 'call zmpi_file_get_stats(0, stats, i)' \
        "call zmpi_open('nothing', file, i)" end >"$work/use.f90"
    (cd "$work" && "${FC:-gfortran}" -std=f2018 -Wall -Wextra -Werror -c "$include/zmpi_reader.f90" "$include/zmpi.f90" use.f90)
fi

# Preloaded, from its folder alone; nor need the tool and the plug-ins be told where the codec is.
lib=$libdir/libzmpi.so
LD_PRELOAD=$lib LD_BIND_NOW=1 ls / >"$work/out" 2>&1
ls / | diff - "$work/out"
"$work/prefix/bin/zmpi" options >/dev/null
for one in "$lib" "$work/prefix/bin/zmpi" "$libdir"/zmpi/*.so "$libdir"/zmpi/*/lib*.so; do
    [ "$(basename "$one")" != libzmpi_convert_hdf5.so ] || continue # it needs none
    used=$(ldd "$one" | sed -n 's/.*libzmpi_codec.so.0 => \(.*\) (.*/\1/p')
    [ "$(realpath "$used")" = "$(realpath "$libdir/libzmpi_codec.so.0")" ] || { echo "FAIL: $one finds the codec at '$used'"; exit 1; }
done

# Moved as a whole; `zmpi run` finds the library of each MPI, and pkg-config too.
cp -a "$work/prefix" "$work/moved"
for one in "$libdir"/zmpi/*/libzmpi.so; do
    kind=$(basename "$(dirname "$one")")
    "$work/moved/bin/zmpi" run -v --mpi "$kind" ls / >"$work/out" 2>&1
    grep -q "LD_PRELOAD=$work/moved/.*/zmpi/$kind/libzmpi.so" "$work/out" || { cat "$work/out"; exit 1; }
    [ "$(wc -l <"$work/out")" -gt 2 ]
    [ -e "$(pkg-config --variable=mpidir "zmpi-$kind")/libzmpi.so" ]
done

# Modulefiles name what is there, by whichever of the two programs is installed. They extend MANPATH, but set none, which would hide
# the system's pages.
modules=$work/moved/share/zmpi/modulefiles
for one in "$(command -v modulecmd || true)" /usr/share/lmod/lmod/libexec/lmod; do
    [ -x "$one" ] || continue
    env -u MANPATH MODULEPATH="$modules" "$one" bash load zmpi >"$work/out" 2>&1
    ! grep -q 'MANPATH=' "$work/out" || { cat "$work/out"; exit 1; }
    MANPATH=/usr/share/man MODULEPATH=$modules "$one" bash load zmpi >"$work/out" 2>&1
    tr ';' '\n' <"$work/out" | sed -n "s|.*=.*\($work/moved[^:\\\"]*\).*|\1|p" >"$work/folders"
    [ "$(wc -l <"$work/folders")" -ge 6 ] || { cat "$work/out"; exit 1; }
    while read -r folder; do
        [ -e "$folder" ] || { echo "FAIL: zmpi's module names $folder"; exit 1; }
    done <"$work/folders"
done

# Nor need `zmpi view`.
head -c 65536 /dev/zero >"$work/zeros"
"$work/moved/bin/zmpi" compress -t f32 -e lossless "$work/zeros" "$work/zeros.z"
"$work/moved/bin/zmpi" view cmp "$work/zeros" "$work/zeros.z"

# Behind MPI it is of no use, and says so where the program asks it for something.
# shellcheck disable=SC2046
"$mpicc" -o "$work/behind" "$here/consumer/consumer.c" -lmpi $(pkg-config --cflags --libs zmpi) -Wl,-rpath,"$libdir"
"$mpiexec" -n 1 "$work/behind" 2>&1 | tee "$work/out"
grep -q 'did not see MPI_Init' "$work/out"
grep -q '^rank 0' "$work/out"
