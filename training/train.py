"""Trains the model by schedule.json on shards that write-shards makes.

    train.py --schedule FILE --data FOLDER --out FOLDER [--stop-at STEP] [--resume FOLDER]

The shards may still be in the making: the training waits for the next one that it needs. Writes log.jsonl (a line
a step) and the checkpoint of the last step. Needs held-out shards (number 0 of each length) beside the others, in
FOLDER/held-out.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

import checkpoint
from model import Config, Pico, rotary_tables
from optimizer import Optimizer

KIND_SHIFT = 12
KINDS = ("prose", "answer", "noise")


def load_shard(path: Path, length: int, device: torch.device) -> Tensor:
    """[windows, length] int32 packed tokens. Waits up to five minutes for the file."""
    for _ in range(3000):
        if path.exists():
            break
        time.sleep(0.1)
    data = np.fromfile(path, dtype="<u2").astype(np.int32).reshape(-1, length)
    return torch.from_numpy(data).to(device)


class Measures(torch.nn.Module):
    """The loss of a batch, and per kind of span the sums of cross entropy, hits and tokens."""

    def __init__(self, model: Pico, weights: list[float]) -> None:
        super().__init__()
        self.model = model
        self.register_buffer("weights", torch.tensor(weights))

    def head(self, hidden: Tensor, packed: Tensor) -> tuple[Tensor, Tensor]:
        target = packed[:, 1:] & ((1 << KIND_SHIFT) - 1)
        kind = packed[:, 1:] >> KIND_SHIFT
        logits = self.model.logits(hidden[:, :-1])
        entropy = F.cross_entropy(logits.float().flatten(0, 1), target.flatten().long(), reduction="none")
        weight = self.weights[kind.flatten()]
        loss = (entropy * weight).sum() / weight.sum()
        hit = (logits.argmax(-1) == target).flatten().float()
        sums = []
        for i in range(len(KINDS)):
            mask = (kind.flatten() == i).float()
            sums += [(entropy.detach() * mask).sum(), (hit * mask).sum(), mask.sum()]
        return loss, torch.stack(sums)

    def forward(self, packed: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
        hidden = self.model.hidden(packed & ((1 << KIND_SHIFT) - 1), cos, sin)
        return self.head(hidden, packed)


def read_sums(sums: Tensor) -> dict[str, float]:
    out = {}
    for i, kind in enumerate(KINDS):
        entropy, hits, count = sums[3 * i : 3 * i + 3].tolist()
        out[f"{kind}_loss"] = round(entropy / max(count, 1), 5)
        out[f"{kind}_accuracy"] = round(hits / max(count, 1), 5)
    return out


def rate_factor(step: int, total: int, warmup: int, decay_share: float) -> float:
    """Warm-up, then constant, then a straight line down to a hundredth."""
    start = total * (1 - decay_share)
    if step < warmup:
        return (step + 1) / warmup
    return 1.0 if step < start else max(0.01, (total - step) / (total - start))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--schedule", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--stop-at", type=int)
    parser.add_argument("--resume", type=Path)
    args = parser.parse_args()
    schedule = json.loads(args.schedule.read_text())
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    fast = device.type == "cuda"
    torch.manual_seed(schedule["seed"])
    torch.set_float32_matmul_precision("high")
    config = Config(**schedule.get("model", {}))
    model = Pico(config).to(device)
    optimizer = Optimizer(model, schedule["muon_rate"], schedule["adam_rate"], schedule["weight_decay"])
    measures = Measures(model, [schedule["loss_weights"][k] for k in KINDS]).to(device)
    if fast:
        torch.backends.cuda.enable_math_sdp(False)
        torch.backends.cuda.enable_mem_efficient_sdp(False)
        torch.backends.cuda.enable_cudnn_sdp(schedule.get("attention", "flash") == "cudnn")
        for block in model.blk:
            block.compile(dynamic=False)
        measures.head = torch.compile(measures.head, dynamic=False)

    tokens_per_step = schedule["tokens_per_step"]
    steps_per_shard = schedule["shard_tokens"] // tokens_per_step
    total = sum(p["steps"] for p in schedule["phases"])
    stop = min(args.stop_at or total, total)
    first = checkpoint.load(args.resume, model, optimizer) if args.resume else 0
    args.out.mkdir(parents=True, exist_ok=True)
    log = open(args.out / "log.jsonl", "a")
    started = time.time()
    print(f"{sum(p.numel() for p in model.parameters())} parameters, steps {first} to {stop} of {total}, {device}")

    def run(packed: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=fast):
            return measures(packed, cos, sin)

    def held_out(step: int, lengths: list[int]) -> None:
        for length in lengths:
            data = load_shard(args.data / "held-out" / f"{length}-0000.bin", length, device)
            cos, sin = rotary_tables(config, length, device)
            rows = tokens_per_step // length
            sums = torch.zeros(9, device=device)
            for i in range(0, len(data) - rows + 1, rows):
                # With gradients on, so that the compiled training graph serves.
                sums += run(data[i : i + rows], cos, sin)[1].detach()
            line = {"step": step, "held_out": length, **read_sums(sums)}
            print(json.dumps(line), flush=True)
            log.write(json.dumps(line) + "\n")

    pending: list[tuple[int, int, Tensor, Tensor]] = []

    def flush() -> None:
        for step, length, loss, sums in pending:
            line = {"step": step, "length": length, "loss": round(loss.item(), 6), **read_sums(sums)}
            log.write(json.dumps({**line, "seconds": round(time.time() - started, 2)}) + "\n")
        if pending:
            speed = (pending[-1][0] + 1 - first) * tokens_per_step / (time.time() - started)
            print(f"{time.time() - started:.1f} s, {speed / 1e3:.0f} k tokens/s: {json.dumps(line)}", flush=True)
        log.flush()
        pending.clear()

    step, seen = 0, []
    for phase in schedule["phases"]:
        length, rows = phase["length"], tokens_per_step // phase["length"]
        seen.append(length)
        cos, sin = rotary_tables(config, length, device)
        shard, data = -1, None
        for i in range(phase["steps"]):
            if step >= stop:
                break
            if step < first:
                step += 1
                continue
            if i // steps_per_shard != shard:
                shard = i // steps_per_shard
                data = load_shard(args.data / f"{length}-{shard:04d}.bin", length, device)
            at = i % steps_per_shard * rows
            loss, sums = run(data[at : at + rows], cos, sin)
            loss.backward()
            optimizer.step(rate_factor(step, total, schedule["warmup_steps"], schedule["decay_share"]))
            for p in model.parameters():
                p.grad = None
            pending.append((step, length, loss.detach(), sums.detach()))
            step += 1
            if step % 20 == 0:
                flush()
            if step % 640 == 0:
                held_out(step, [length])
        if step >= stop:
            break
    flush()
    held_out(step, seen)
    paths = checkpoint.save(args.out, model, optimizer, step)
    print(f"checkpoint of step {step}: {len(paths)} pieces, {sum(p.stat().st_size for p in paths)} bytes")


if __name__ == "__main__":
    main()
