#!/bin/sh
# Stands in .venv/bin as snakemake (make setup): the configuration is read first, then Snakemake takes over.
bin=$(dirname "$(readlink -f "$0")")
exec "$bin/python" -P "$bin/../../scripts/engine/launch.py" "$@"
