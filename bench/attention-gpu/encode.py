"""Encoding rows on an NVIDIA GPU: bytes against the golden files, GB/s of f16 input, a decode step's writes.

encode.py FOLDER TYPE-HEADSIZE … : FOLDER holds set_rows-TYPE-HEADSIZE.cubin files of kernels/cuda/set_rows.cu.
Prints a JSON object a line.
"""

import ctypes
import json
import re
import statistics
import struct
import sys
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parents[2]
DEV = "cuda"
BOOKS = torch.tensor(
    [[int(x) for x in re.findall(r"-?\d+", (ROOT / f"kernels/tables/trellis-{r}-values.inc").read_text())] for r in range(1, 7)],
    dtype=torch.int8, device=DEV,
)
cuda = ctypes.CDLL("libcuda.so.1")


def checked(code):
    if code:
        raise RuntimeError(f"CUDA error {code}")


class SetRows:
    def __init__(self, folder, name):
        kind, dim = name.split("-")
        self.kind, self.dim = kind, int(dim)
        module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        checked(cuda.cuModuleLoadData(ctypes.byref(module), Path(folder, f"set_rows-{name}.cubin").read_bytes()))
        checked(cuda.cuModuleGetFunction(ctypes.byref(self.function), module, b"eliza_set_rows"))
        address, size, value = ctypes.c_uint64(), ctypes.c_size_t(), ctypes.c_uint32()
        checked(cuda.cuModuleGetGlobal_v2(ctypes.byref(address), ctypes.byref(size), module, b"eliza_set_rows_values"))
        checked(cuda.cuMemcpyDtoH_v2(ctypes.byref(value), address, 4))
        self.values = value.value

    def launch(self, rows, ids, out, n_heads):
        """rows [n, heads * dim] f32 or f16, ids int64 or None, out [m, bytes]."""
        count, width = rows.shape
        flags = (rows.dtype == torch.float16) | (ids is not None) << 1
        params = ctypes.create_string_buffer(struct.pack("<5I", count, n_heads, rows.stride(0) * rows.element_size(), out.stride(0), flags))
        cells = [ctypes.c_uint64(t.data_ptr() if t is not None else 0) for t in (rows, ids, out, BOOKS)]
        arguments = (ctypes.c_void_p * 5)(*[ctypes.addressof(c) for c in cells], ctypes.addressof(params))
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        checked(cuda.cuLaunchKernel(self.function, count, -(-width // self.values), 1, 128, 1, 1, 0, stream, arguments, None))


def graph_time(work):
    """Microseconds of what `work` launches, the median of 15 replays."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        work()
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            work()
        times = []
        for _ in range(17):
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            graph.replay()
            end.record()
            end.synchronize()
            times.append(begin.elapsed_time(end) * 1000)
    return statistics.median(times[2:])


def main():
    torch.zeros(1, device=DEV)
    for name in sys.argv[2:]:
        kernel = SetRows(sys.argv[1], name)
        kind, dim = kernel.kind, kernel.dim
        golden = ROOT / "fixtures/golden"
        result = {"type": kind, "dim": dim}
        rows = torch.frombuffer(bytearray((golden / f"rows-{dim}.f32").read_bytes()), dtype=torch.float32).reshape(-1, dim).to(DEV)
        want = torch.frombuffer(bytearray((golden / f"{kind}-{dim}.default.bin").read_bytes()), dtype=torch.uint8).reshape(len(rows), -1).to(DEV)
        ids = torch.randperm(len(rows), device=DEV)
        out = torch.full_like(want, 0xA5)
        kernel.launch(rows, ids, out, 1)
        torch.cuda.synchronize()
        result["golden_rows"] = len(rows)
        result["bytes_that_differ"] = int((out[ids] != want).sum())
        size = want.shape[1]

        heads, count = 8, 4096
        many = torch.randn(count, heads * dim, device=DEV).half()
        bytes_ = torch.zeros(count, heads * size, dtype=torch.uint8, device=DEV)
        time = graph_time(lambda: kernel.launch(many, None, bytes_, heads))
        result["gb_s_of_f16"] = round(many.numel() * 2 / time / 1000, 1)
        step = torch.randn(64, heads * dim, device=DEV).half()  # K and V of 32 layers
        to = torch.zeros(64, heads * size, dtype=torch.uint8, device=DEV)
        result["step_one_launch_us"] = round(graph_time(lambda: kernel.launch(step, None, to, heads)), 1)
        result["step_32_launches_us"] = round(graph_time(lambda: [kernel.launch(step[2 * i : 2 * i + 2], None, to[2 * i : 2 * i + 2], heads) for i in range(32)]), 1)
        print(json.dumps(result), flush=True)


main()
