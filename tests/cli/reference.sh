#!/bin/sh
# reference.sh: docs/reference.md is what the table of settings and the commands' help make of it.
set -eu
python3 "$ZMPI_TEST_SOURCE/scripts/generate/gen_reference.py" "$ZMPI_TEST_BIN/zmpi" >reference.md
diff -u "$ZMPI_TEST_SOURCE/docs/reference.md" reference.md || {
    echo "run scripts/generate/gen_reference.py BUILD/bin/zmpi >docs/reference.md"
    exit 1
}
