"""Decode attention on an NVIDIA GPU: our kernels' errors and times beside PyTorch's bf16 scaled_dot_product_attention.

measure.py FOLDER check|time ... : FOLDER holds K-V-D.cubin files of kernels/cuda/attention.cu, K-V-D-prefill.cubin of attention_prefill.cu. Prints a JSON object a line.
"""

import argparse
import ctypes
import json
import math
import re
import statistics
import struct
from pathlib import Path

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

TABLES = Path(__file__).resolve().parents[2] / "kernels" / "tables"
MOST_DECODE_ROWS = 16  # of queries: with more, prefill
HEADROOM = 320 << 20  # bytes that inputs rotate over, several times the L2
DEV = "cuda"


def table(name):
    return [float(x.rstrip("uf")) for x in re.findall(r"-?[0-9][0-9.e+-]*f?", (TABLES / name).read_text())]


def masks(name):
    words = [int(x, 16) for x in re.findall(r"0x[0-9a-f]+", (TABLES / name).read_text())]
    return torch.tensor([1.0 if words[i // 32] >> (i % 32) & 1 else -1.0 for i in range(32 * len(words))], dtype=torch.float64, device=DEV)


CENTROIDS = torch.tensor(table("turbo4-centroids.inc"), dtype=torch.float64, device=DEV)
BOOKS = torch.tensor([table(f"trellis-{r}-values.inc") for r in range(1, 7)], dtype=torch.float64, device=DEV)
STEPS = table("trellis-steps.inc")
PREFIXED_STEP = table("trellis-prefixed-step.inc")[0]
SIGNS = {32: (masks("signs-32.inc"), None), 128: (masks("signs-1.inc"), masks("signs-2.inc"))}
SIGNS[64] = tuple(s[:64] for s in SIGNS[128])

MIXES = {
    "turbo4_mix": ((6, 4, 3, 3), (5, 3)),
    "turbo3_mix": ((5, 3, 2, 2), (4, 2)),
    "turbo2_mix": ((4, 2, 1, 1), (3, 1)),
}
BLOCKS = {"turbo4": 18, "q4_0": 18, "q8_0": 34}


def tiles(kind, dim):
    """(rate, width, prefixed) of each trellis tile of a row."""
    if kind in MIXES:
        rates = MIXES[kind][1 if dim == 64 else 0]
        return [(rate, dim // len(rates), False) for rate in rates]
    width = 128 if dim % 128 == 0 else 64
    rate = int(kind[5])
    return [(rate, width, rate == 3 and width == 128)] * (dim // width)


def tile_bytes(tile):
    rate, width, prefixed = tile
    return 52 if prefixed else 2 + width * rate // 8


def row_bytes(kind, dim):
    if kind in BLOCKS:
        return dim // 32 * BLOCKS[kind]
    return 2 * dim if kind == "f16" else sum(map(tile_bytes, tiles(kind, dim)))


def random_rows(kind, dim, count):
    """Random codes with scales that differ threefold within a row: [count, bytes]."""
    size = row_bytes(kind, dim)
    if kind == "f16":
        return torch.randn(count, dim, device=DEV).half().view(torch.uint8).reshape(count, size)
    rows = torch.randint(0, 256, (count, size), dtype=torch.uint8, device=DEV)

    def scale(at, unit):
        x = (unit * (0.4 + 0.8 * torch.rand(count, device=DEV))).half()
        rows[:, at : at + 2] = x.view(torch.uint8).reshape(count, 2)

    if kind in BLOCKS:
        for at in range(0, size, BLOCKS[kind]):
            scale(at, {"turbo4": 1.0, "q4_0": 0.22, "q8_0": 0.0135}[kind])
    else:
        at = 0
        for tile in tiles(kind, dim):
            scale(at, 11.3 if tile[2] else 1.0)
            at += tile_bytes(tile)
    return rows


def unrotate(x, width):
    before, after = SIGNS[width]
    x = x.reshape(*x.shape[:-1], -1, width)
    if after is not None:
        x = x * after
    step = 1
    while step < width:
        y = x.reshape(*x.shape[:-1], width // (2 * step), 2, step)
        x = torch.stack((y[..., 0, :] + y[..., 1, :], y[..., 0, :] - y[..., 1, :]), dim=-2).reshape(x.shape)
        step *= 2
    return (x * before / math.sqrt(width)).flatten(-2)


def halves(rows, at):
    return rows[:, at : at + 2].contiguous().view(torch.float16)[:, 0].double()


def decode(kind, dim, rows):
    """float64 [count, dim] in the original basis."""
    if kind == "f16":
        return rows.view(torch.float16).double()
    parts = []
    if kind in BLOCKS:
        size = BLOCKS[kind]
        for at in range(0, rows.shape[1], size):
            codes = rows[:, at + 2 : at + size]
            if kind == "q8_0":
                x = codes.view(torch.int8).double()
            else:
                x = torch.cat((codes & 15, codes >> 4), dim=1)
                x = CENTROIDS[x.long()] if kind == "turbo4" else x.double() - 8
            x = x * halves(rows, at)[:, None]
            parts.append(unrotate(x, 32) if kind == "turbo4" else x)
    else:
        at = 0
        for rate, width, prefixed in tiles(kind, dim):
            length = 49 if prefixed else width * rate // 8
            stream = rows[:, at + 2 : at + 2 + length].int()
            bits = torch.arange(width, device=DEV) * rate
            byte = bits // 8
            states = (stream[:, byte] | stream[:, (byte + 1) % length] << 8) >> (bits % 8) & 511
            step = PREFIXED_STEP if prefixed else STEPS[rate - 1]
            parts.append(unrotate(BOOKS[rate - 1][states.long()] * (halves(rows, at) * step)[:, None], width))
            at += tile_bytes((rate, width, prefixed))
    return torch.cat(parts, dim=1)


def check_call(code, what):
    if code:
        raise RuntimeError(f"{what}: CUDA error {code}")


class Kernel:
    """One cubin of attention.cu."""

    def __init__(self, folder, k, v, dim):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.k, self.v, self.dim = k, v, dim
        self.shapes = {}

        def load(name):
            module = ctypes.c_void_p()
            check_call(self.cuda.cuModuleLoadData(ctypes.byref(module), Path(folder, f"{name}.cubin").read_bytes()), "load")
            return module

        def constant(module, what):
            address, size, value = ctypes.c_uint64(), ctypes.c_size_t(), ctypes.c_uint32()
            check_call(self.cuda.cuModuleGetGlobal_v2(ctypes.byref(address), ctypes.byref(size), module, what.encode()), what)
            check_call(self.cuda.cuMemcpyDtoH_v2(ctypes.byref(value), address, 4), what)
            return value.value

        decode, prefill = load(f"{k}-{v}-{dim}"), load(f"{k}-{v}-{dim}-prefill")
        self.prefill_rows = constant(prefill, "eliza_attention_prefill_rows")
        kinds = {(heads, packed): f"h{heads}{'_packed' if packed else ''}" for heads in (4, 8) for packed in (False, True)}
        if self.prefill_rows:
            kinds["prefill"] = "prefill"
        for kind, suffix in kinds.items():
            function, name = ctypes.c_void_p(), f"eliza_attention_{suffix}"
            module = prefill if kind == "prefill" else decode
            check_call(self.cuda.cuModuleGetFunction(ctypes.byref(function), module, name.encode()), name)
            threads, shared = constant(module, f"{name}_threads"), constant(module, f"{name}_shared")
            check_call(self.cuda.cuFuncSetAttribute(function, 8, shared), "shared memory")
            self.shapes[kind] = (function, threads, shared)


def make_books():
    return BOOKS.to(torch.int8).contiguous()


BOOK_BYTES = make_books()


class Launch:
    """A call with all that it needs; `go` puts it on the current stream."""

    def __init__(self, kernel, q, k, v, n_kv, *, k_stride, v_stride, mask=None, sinks=None, exact=None, causal_from=None,
                 window=0, soft_cap=0.0, max_bias=0.0, scale=None, blocks=132):
        dim = kernel.dim
        n_seq, n_head, n_query, _ = q.shape  # [seq, head, query, dim]
        n_head_kv = k_stride[3]
        group = n_head // n_head_kv
        rows = n_query * group
        prefill = rows > MOST_DECODE_ROWS and kernel.prefill_rows > 0
        self.heads = kernel.prefill_rows if prefill else 4 if rows <= 4 else 8
        packed = all(
            stride[0] == row_bytes(kind, dim) and kind != "f16" and all(x % 16 == 0 for x in stride[1:3]) and rows_.data_ptr() % 16 == 0
            for kind, stride, rows_ in ((kernel.k, k_stride, k), (kernel.v, v_stride, v))
        )
        self.function, self.threads, self.shared = kernel.shapes["prefill" if prefill else (self.heads, packed)]
        chunks = (rows + self.heads - 1) // self.heads
        items = n_seq * n_head_kv * chunks
        self.blocks = items if prefill else max(1, min(blocks, items * ((n_kv + 31) // 32)))
        max_parts = self.blocks + 18
        self.out = torch.full((n_seq, n_query, n_head, dim), math.nan, device=DEV)
        size = 4 if prefill else (items * 4 + 127) // 128 * 128 + items * max_parts * self.heads * (dim + 2) * 4
        self.workspace = torch.zeros(size, dtype=torch.uint8, device=DEV)
        flags = (mask is not None) | (sinks is not None) << 1 | (causal_from is not None) << 2 | (window > 0) << 3
        self.keep = [q, k, v, mask, sinks, exact]
        ke, ve, me = exact if exact else (None, None, None)
        n_exact = ke.shape[2] if exact else 0
        exact_stride = (2 * dim, 2 * dim * n_exact, 2 * dim * n_exact * n_head_kv)
        mask_row = mask.stride(1) * 2 if mask is not None else 0
        mask_seq = mask.stride(0) * 2 if mask is not None else 0
        me_row = me.stride(1) * 2 if exact else 0
        me_seq = me.stride(0) * 2 if exact else 0
        params = struct.pack(
            "<10I3fI19Q", n_seq, n_query, n_head, n_head_kv, n_kv, n_exact, flags, causal_from or 0, window, max_parts,
            scale or 1 / math.sqrt(dim), soft_cap, max_bias, 1 << (n_head.bit_length() - 1),
            4 * dim, 4 * dim * n_query, 4 * dim * n_query * n_head, *k_stride[:3], *v_stride[:3], *exact_stride, *exact_stride,
            mask_row, mask_seq, me_row, me_seq,
        )
        pointers = [q, k, v, mask, sinks, ke, ve, me, BOOK_BYTES, self.out, self.workspace]
        self.cells = [ctypes.c_uint64(t.data_ptr() if t is not None else 0) for t in pointers]
        self.params = ctypes.create_string_buffer(params, len(params))
        addresses = [ctypes.addressof(c) for c in self.cells] + [ctypes.addressof(self.params)]
        self.arguments = (ctypes.c_void_p * len(addresses))(*addresses)
        self.cuda = kernel.cuda

    def go(self):
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        code = self.cuda.cuLaunchKernel(self.function, self.blocks, 1, 1, self.threads, 1, 1, self.shared, stream, self.arguments, None)
        check_call(code, "launch")


def by_head(kind, dim, n_seq, n_head_kv, n_kv):
    """Rows of a head together, heads 16-byte aligned: (bytes, strides, decode(seq, head))."""
    size = row_bytes(kind, dim)
    head = (size * n_kv + 15) // 16 * 16
    memory = torch.zeros(n_seq * n_head_kv, head, dtype=torch.uint8, device=DEV)
    memory[:, : size * n_kv] = random_rows(kind, dim, n_seq * n_head_kv * n_kv).reshape(n_seq * n_head_kv, -1)
    return memory, (size, head, head * n_head_kv, n_head_kv), lambda s, h: memory[s * n_head_kv + h, : size * n_kv].reshape(n_kv, size)


def by_token(kind, dim, n_seq, n_head_kv, n_kv):
    """All heads of a position together, as llama.cpp's cache has them."""
    size = row_bytes(kind, dim)
    memory = random_rows(kind, dim, n_seq * n_kv * n_head_kv).reshape(n_seq, n_kv, n_head_kv, size)
    return memory, (size * n_head_kv, size, size * n_head_kv * n_kv, n_head_kv), lambda s, h: memory[s, :, h].contiguous()


def reference(q, k, v, scale, added, sinks, soft_cap):
    """float64 attention of one KV head: q [rows, dim], added [rows, n]; sinks [rows] or None."""
    s = q @ k.T * scale
    if soft_cap:
        s = soft_cap * torch.tanh(s / soft_cap)
    s = s + added
    if sinks is not None:
        s = torch.cat((s, sinks[:, None]), dim=1)
    top = s.max(dim=1, keepdim=True).values.clamp(min=-1e300)
    w = torch.exp(s - top)
    total = w.sum(dim=1, keepdim=True)
    w = w[:, : k.shape[0]]
    return torch.where(total > 0, w @ v / total, torch.zeros_like(total))


CHECKS = [
    # n_seq, n_query, n_head, n_head_kv, n_kv, layout, extras
    (1, 1, 4, 1, 1, by_head, {}),
    (2, 1, 32, 8, 4096, by_head, {}),
    (1, 1, 32, 8, 4099, by_token, {"mask": True, "exact": 132}),
    (3, 1, 9, 3, 777, by_token, {"mask": True, "sinks": True}),
    (1, 3, 16, 2, 1000, by_token, {"mask": True, "causal_from": 990, "window": 300, "max_bias": 8.0}),
    (2, 1, 6, 1, 2049, by_head, {"soft_cap": 20.0, "exact": 7, "mask": True, "sinks": True}),
    (1, 5, 8, 8, 333, by_token, {"causal_from": 328}),
    (1, 1, 16, 1, 20000, by_head, {"window": 1500, "causal_from": 19999}),
    (2, 70, 16, 2, 1033, by_token, {"mask": True, "sinks": True, "exact": 132}),
    (1, 300, 8, 2, 1500, by_token, {"causal_from": 1200, "window": 700, "max_bias": 8.0}),
    (1, 64, 6, 3, 777, by_token, {"soft_cap": 20.0}),
    (1, 512, 4, 1, 4096, by_head, {"causal_from": 3584}),
]


def check(kernel, only=None, query_size=1.0):
    k_type, v_type, dim = kernel.k, kernel.v, kernel.dim
    results = []
    for index, (n_seq, n_query, n_head, n_head_kv, n_kv, layout, extras) in enumerate(CHECKS):
        if only is not None and index not in only:
            continue
        torch.manual_seed(index * 100 + dim)
        extras = dict(extras)
        group = n_head // n_head_kv
        k, ks, k_rows = layout(k_type, dim, n_seq, n_head_kv, n_kv)
        v, vs, v_rows = layout(v_type, dim, n_seq, n_head_kv, n_kv)
        q = query_size * torch.randn(n_seq, n_head, n_query, dim, device=DEV)
        mask = None
        if extras.pop("mask", False):
            mask = torch.randn(n_seq, n_query, n_kv + 1, device=DEV).half()
            mask[torch.rand_like(mask) < 0.3] = -math.inf
        sinks = torch.randn(n_head, device=DEV) if extras.pop("sinks", False) else None
        n_exact = extras.pop("exact", 0)
        exact = None
        if n_exact:
            me = torch.randn(n_seq, n_query, n_exact, device=DEV).half()
            me[torch.rand_like(me) < 0.3] = -math.inf
            exact = (*(torch.randn(n_seq, n_head_kv, n_exact, dim, device=DEV).half() for _ in range(2)), me)
        launch = Launch(kernel, q, k, v, n_kv, k_stride=ks, v_stride=vs, mask=mask, sinks=sinks, exact=exact, **extras)
        launch.go()
        first = launch.out.clone()
        launch.out.fill_(math.nan)
        launch.go()
        torch.cuda.synchronize()
        same = torch.equal(first, launch.out)
        worst = square = norm = bf_worst = bf_square = 0.0
        for s in range(n_seq):
            for h in range(n_head_kv):
                keys, vals = decode(k_type, dim, k_rows(s, h)), decode(v_type, dim, v_rows(s, h))
                rows = [(i, h * group + j) for i in range(n_query) for j in range(group)]
                slopes = torch.ones(len(rows), dtype=torch.float64, device=DEV)
                if extras.get("max_bias"):
                    n2 = 1 << (n_head.bit_length() - 1)
                    b = extras["max_bias"]
                    slopes = torch.tensor([2 ** (-b / n2 * (x + 1)) if x < n2 else 2 ** (-b / 2 / n2 * (2 * (x - n2) + 1)) for _, x in rows], dtype=torch.float64, device=DEV)
                added = torch.zeros(len(rows), n_kv, dtype=torch.float64, device=DEV)
                positions = torch.arange(n_kv, device=DEV)
                for r, (i, _) in enumerate(rows):
                    if mask is not None:
                        added[r] = mask[s, i, :n_kv].double() * slopes[r]
                    if extras.get("causal_from") is not None:
                        at = extras["causal_from"] + i
                        added[r][positions > at] = -math.inf
                        if extras.get("window"):
                            added[r][positions <= at - extras["window"]] = -math.inf
                if exact:
                    keys = torch.cat((keys, exact[0][s, h].double()))
                    vals = torch.cat((vals, exact[1][s, h].double()))
                    added = torch.cat((added, torch.stack([exact[2][s, i].double() for i, _ in rows]) * slopes[:, None]), dim=1)
                query = torch.stack([q[s, x, i] for i, x in rows])
                cap = extras.get("soft_cap", 0)
                want = reference(query.double(), keys, vals, 1 / math.sqrt(dim), added, sinks[[x for _, x in rows]].double() if sinks is not None else None, cap)
                got = torch.stack([first[s, i, x] for i, x in rows]).double()
                size = vals.abs().max()
                error = (got - want).abs()
                worst = max(worst, (error.max() / size).item()) if torch.isfinite(error).all() else math.inf
                square += (error**2).sum().item()
                norm += (want**2).sum().item()
                if not cap and sinks is None:
                    out = F.scaled_dot_product_attention(query[None, None].bfloat16(), keys[None, None].bfloat16(), vals[None, None].bfloat16(), attn_mask=added[None, None].bfloat16())
                    e = (out[0, 0].double() - want).abs().nan_to_num()
                    bf_worst = max(bf_worst, (e.max() / size).item())
                    bf_square += (e**2).sum().item()
        result = {"check": index, "k": k_type, "v": v_type, "dim": dim, "max_over_v": worst, "relative": math.sqrt(square / norm),
                  "bf16_max_over_v": bf_worst, "bf16_relative": math.sqrt(bf_square / norm), "same_twice": same}
        results.append(result)
        print(json.dumps(result), flush=True)
    return results


def graph_time(calls):
    """Microseconds a call, the median of 15 replays of a graph of all of them."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for call in calls[:2]:
            call()
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for call in calls:
                call()
        times = []
        for _ in range(17):
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            graph.replay()
            end.record()
            end.synchronize()
            times.append(begin.elapsed_time(end) * 1000 / len(calls))
    return statistics.median(times[2:])


TIMES = {"b1-131072": (1, 32, 8, 128, 131072), "b8-32768": (8, 32, 8, 128, 32768), "b1-8192": (1, 32, 8, 128, 8192),
         "d256-b8-32768": (8, 4, 1, 256, 32768), "b1-32768": (1, 32, 8, 128, 32768)}
QUERIES = 512  # of a prefill's block


def sdpa_time(case, n_query=1):
    batch, n_head, n_head_kv, dim, n_kv = TIMES[case]
    group = n_head // n_head_kv
    size = 2 * 2 * batch * n_head_kv * n_kv * dim
    sets = max(1, min(8, -(-HEADROOM // size)))
    tensors = []
    for _ in range(sets):
        k = torch.randn(batch, n_head_kv, n_kv, dim, device=DEV, dtype=torch.bfloat16)
        v = torch.randn_like(k)
        q = torch.randn(batch, n_head, n_query, dim, device=DEV, dtype=torch.bfloat16)
        tensors.append((q, k, v))
    best = {}
    for backend in (SDPBackend.FLASH_ATTENTION, SDPBackend.CUDNN_ATTENTION, SDPBackend.EFFICIENT_ATTENTION):
        for folded in (True, False):
            if folded and n_query > 1:
                continue

            def call(q, k, v, backend=backend, folded=folded):
                with sdpa_kernel(backend):
                    if folded:
                        return F.scaled_dot_product_attention(q.reshape(batch, n_head_kv, group, dim), k, v)
                    return F.scaled_dot_product_attention(q, k, v, enable_gqa=True)

            try:
                calls = [lambda t=tensors[i % sets]: call(*t) for i in range(max(8, sets))]
                best[f"{backend.name} {'folded' if folded else 'gqa'}"] = graph_time(calls)
            except RuntimeError:
                torch.cuda.synchronize()
    name = min(best, key=best.get)
    result = {"case": case, "sdpa": best[name], "backend": name, "gb_s": size / best[name] / 1000}
    print(json.dumps(result), flush=True)
    return best[name]


def copy_rate():
    a = torch.randint(0, 255, (2 << 30,), dtype=torch.uint8, device=DEV)
    b = torch.empty_like(a)
    return 2 * a.numel() / graph_time([lambda: b.copy_(a)] * 4) / 1000


def decode_time(kernel, case, sdpa, copy, layout=by_token, blocks=132, masked=False, label="", n_query=1):
    batch, n_head, n_head_kv, dim, n_kv = TIMES[case]
    size = batch * n_head_kv * n_kv * (row_bytes(kernel.k, dim) + row_bytes(kernel.v, dim))
    sets = max(1, -(-HEADROOM // size))
    launches = []
    for _ in range(sets):
        k, ks, _ = layout(kernel.k, dim, batch, n_head_kv, n_kv)
        v, vs, _ = layout(kernel.v, dim, batch, n_head_kv, n_kv)
        q = torch.randn(batch, n_head, n_query, dim, device=DEV)
        mask = torch.zeros(batch, n_query, n_kv, device=DEV).half() if masked else None
        launches.append(Launch(kernel, q, k, v, n_kv, k_stride=ks, v_stride=vs, blocks=blocks, mask=mask))
    time = graph_time([launches[i % sets].go for i in range(max(8, sets))])
    result = {"case": case, "k": kernel.k, "v": kernel.v, "layout": layout.__name__, "masked": masked, "queries": n_query, "label": label, "us": round(time, 2),
              "gb_s": round(size / time / 1000), "of_copy": round(size / time / 1000 / copy, 3), "ratio_to_sdpa": round(sdpa / time, 3)}
    print(json.dumps(result), flush=True)
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("what", choices=["check", "time", "prefill"])
    parser.add_argument("pairs", nargs="+", help="K-V-D")
    parser.add_argument("--cases", default=",".join(list(TIMES)[:4]))
    parser.add_argument("--checks")
    parser.add_argument("--layouts", default="by_token,by_head")
    parser.add_argument("--masked", action="store_true")
    options = parser.parse_args()
    torch.cuda.init()
    torch.zeros(1, device=DEV)
    kernels = []
    for pair in options.pairs:
        k, v, dim = pair.split("-")
        kernels.append(Kernel(options.folder, k, v, int(dim)))
    if options.what == "check":
        only = [int(i) for i in options.checks.split(",")] if options.checks else None
        for kernel in kernels:
            check(kernel, only)
        return
    copy = copy_rate()
    print(json.dumps({"device": torch.cuda.get_device_name(), "copy_gb_s": round(copy)}), flush=True)
    n_query = QUERIES if options.what == "prefill" else 1
    for case in options.cases.split(","):
        sdpa = sdpa_time(case, n_query)
        for kernel in kernels:
            if kernel.dim == TIMES[case][3]:
                for layout in options.layouts.split(","):
                    decode_time(kernel, case, sdpa, copy, globals()[layout], masked=options.masked, n_query=n_query)


main()
