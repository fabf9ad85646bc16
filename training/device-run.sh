#!/bin/sh
# Runs the recipe on a machine with one GPU, PyTorch and no network or Node:
#
#   sh training/device-run.sh CARRY OUT SCHEDULE [SECOND]
#
# CARRY holds node.xz (a Node binary) and write-shards.mjs (training/README.md says how both are made). OUT gets the
# checkpoint, the log and, where SECOND is a number of steps, second.jsonl: the first SECOND steps again, in two
# processes, the second of which goes on from the checkpoint of the first.
set -eu
carry=$1 out=$2 schedule=$3 second=${4:-0}
work=$(mktemp -d)
export PYTHONUNBUFFERED=1
xz -dc "$carry/node.xz" >"$work/node" 2>/dev/null || python3 -c "
import lzma, shutil, sys
shutil.copyfileobj(lzma.open('$carry/node.xz'), open('$work/node', 'wb'))"
chmod +x "$work/node"
nice "$work/node" "$carry/write-shards.mjs" --tokenizer models/pico/tokenizer.json --schedule "$schedule" \
    --out "$work/data" --workers 12 >"$out/generator.log" 2>&1 &
train() { python3 training/train.py --schedule "$schedule" --data "$work/data" "$@"; }
train --out "$out" 2>&1 | tee "$out/train.log"
wait
if [ "$second" -gt 0 ]; then
    train --out "$work/second" --stop-at $((second / 2))
    train --out "$work/second" --stop-at "$second" --resume "$work/second"
    cp "$work/second/log.jsonl" "$out/second.jsonl"
fi
