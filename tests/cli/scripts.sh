#!/bin/bash
# Scripts say how they are used: with -h or --help, and, as an error, with arguments that they do not know, whatever folder they are
# called from and by whatever path.
set -euo pipefail

scripts=${ZMPI_TEST_SOURCE:?}/scripts

fail() {
    echo "scripts.sh: $*" >&2
    exit 1
}

for script in demo bench/bench_codec bench/bench_small bench/bench_cluster plot_perf cluster; do
    name=${script##*/}.sh
    text=$("$scripts/$script.sh" -h) || fail "$script.sh -h failed"
    [[ $text == "$name"* || $text == *"$name: "* ]] || fail "$script.sh -h says '$text'"
    for option in -h --help --nonsense; do
        status=0
        said=$(cd "$(dirname "$scripts/$script")" && "./$name" $option 2>&1) || status=$?
        [[ $option == --nonsense ]] && expected=2 || expected=0
        [[ $status == "$expected" ]] || fail "$script.sh $option: status $status"
        [[ $said == *"$text" ]] || fail "$script.sh $option in its folder says '$said'"
    done
done

# A wrong file is said in one line, and nothing is installed or made for it.
printf '{"program": "another"}' >other.json
head -c 100 /dev/urandom >noise.json
echo '[1]' >list.json
for file in nowhere.json noise.json list.json other.json .; do
    for script in perf_model.py "plot_perf.sh -o pictures"; do
        status=0
        # shellcheck disable=SC2086 # several words are meant
        said=$("$scripts/"$script "$file" 2>&1) || status=$?
        [[ $status == 1 && $said == "$file: "* && $said != *$'\n'* && ! -e pictures ]] || fail "$script $file says '$said'"
    done
done

# Slurm's task prolog: what it says goes into the environment of the task.
prolog() {
    env -u ZMPI_ERROR_BOUND -u ZMPI_CONFIG -u LD_PRELOAD "$@" "$scripts/slurm/task_prolog.sh"
}
here=$(realpath other.json)
[[ $(prolog LIBZMPI="$here" ZMPI_ERROR_BOUND=rel=1e-3) == "export LD_PRELOAD=$here" ]] || fail "task_prolog.sh with a bound"
[[ $(prolog LIBZMPI="$here" ZMPI_CONFIG=x LD_PRELOAD=/one/other.so 2>/dev/null) == "export LD_PRELOAD=$here:/one/other.so" ]] ||
    fail "task_prolog.sh with another library"
[[ $(prolog LIBZMPI="$here" ZMPI_ERROR_BOUND=rel=1e-3 ZMPI_OFF=1)$(prolog LIBZMPI="$here")$(prolog ZMPI_CONFIG=x) == '' ]] ||
    fail "task_prolog.sh without a wish"
[[ $(prolog LIBZMPI=/nowhere.so ZMPI_CONFIG=x) == "print "*"/nowhere.so cannot be read"* ]] || fail "task_prolog.sh without a library"
