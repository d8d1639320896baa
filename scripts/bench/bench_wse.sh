#!/bin/bash
# bench_wse.sh [BUILD_DIR [DATA_DIR]]: the tables of docs/internals/csl.md, simulated, beside CereSZ's.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build}
data=${2:-../shared/data}

cmake --build "$build" --target bench_wse >/dev/null
bench=$(find "$build" -name bench_wse -type f -perm -u+x | head -1)
fields=()
for name in ccm_trefht echam_rhumidity foam_ocean hacc_pos hacc_vel les_wmag nyx_baryon nyx_velocity penobscot wrf_u; do
    for file in "$data/$name"*.f32; do
        [[ -f $file ]] && fields+=("$file")
    done
done
[[ ${#fields[@]} -gt 0 ]] || { echo "bench_wse.sh: no fields in $data" >&2; exit 1; }

echo "## Sub-stages"
"$bench" stages
echo
echo "## Fit"
python3 scripts/generate/csl_fit.py "$bench"
echo
echo "## Rows"
"$bench" rows
echo
echo "## Pipelines"
"$bench" pipelines
echo
echo "## Shapes"
"$bench" shapes
echo
echo "## CereSZ's figures"
"$bench" figures
echo
echo "## Fields"
"$bench" fields "${fields[@]}"
echo
echo "## Mappings: who codes what"
"$bench" mappings "${fields[@]}"
