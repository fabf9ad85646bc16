#!/bin/sh
# lab-machine.sh ARCHIVE OUT: unpacks a packed verifier and runs all of it on a machine with an NVIDIA GPU.
# OUT gets evidence/, the reports, the sanitizer's words and the benchmark. Missing drivers are told, not fatal.
set -u
archive=$1
out=$2
work=$(mktemp -d)
mkdir -p "$out"
if command -v xz >/dev/null; then tar -C "$work" -xJf "$archive"; else
    python3 -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])' "$archive" "$work"
fi
cd "$work/eliza-verifier" || exit 1
export XDG_RUNTIME_DIR="$work"

nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
./eliza-verify --hardware --device cuda --device vulkan --evidence "$out/evidence" 2>&1 | tee "$out/verify.txt"

export ELIZA_VERIFY_ROOT="$PWD" ELIZA_VERIFY_PREBUILT="$PWD/prebuilt"
kernels=$(ls kernels/cuda/*.cu | sed 's|.*/\(.*\)\.cu|"\1"|' | paste -sd, -)
for tool in memcheck racecheck; do
    command -v compute-sanitizer >/dev/null || break
    timeout 150 compute-sanitizer --tool $tool ./node verify-worker.js \
        "{\"device\":\"cuda\",\"configuration\":{\"label\":\"\"},\"kernels\":[$kernels],\"short\":true}" \
        >"$out/$tool.txt" 2>&1
    echo "$tool: exit $?, $(grep -c finished "$out/$tool.txt") kernels, $(grep SUMMARY "$out/$tool.txt")"
done

for device in cuda vulkan; do
    timeout 150 ./eliza-verify bench --device $device --json >"$out/bench-$device.json" 2>"$out/bench-$device.err"
    timeout 5 ./node -e '
        const { device, speeds } = JSON.parse(require("fs").readFileSync(process.argv[1]));
        console.log(device);
        for (const s of speeds) console.log(s.kernel, s.format, s.heads, s.megabytes + "MB", s.gigabytesPerSecond.toFixed(0) + "GB/s", (100 * s.shareOfCopy).toFixed(0) + "%");
    ' "$out/bench-$device.json"
done
rm -rf "$work"
