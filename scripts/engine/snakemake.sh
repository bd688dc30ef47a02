#!/bin/sh
# Stands in .venv/bin as snakemake (make setup): the configuration is read first, then Snakemake takes over.
# The clone is the one in which .venv stands, also where .venv is a link to another's.
bin=$(cd "$(dirname "$0")" && pwd -L)
[ -f "${bin%/.venv/bin}/scripts/engine/launch.py" ] || bin=$(dirname "$(readlink -f "$0")")
exec "$bin/python" -P "${bin%/.venv/bin}/scripts/engine/launch.py" "$@"
