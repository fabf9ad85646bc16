"""Checkpoints in pieces of less than 16 MiB.

Weights keep all 32 bits; the optimizer's moments are rounded to bf16. Bytes are laid out by significance, so that
deflate finds the exponents, which repeat. Layout of the joined pieces: 8 bytes little-endian header length, header
(JSON: step, count, tensors with name, dtype, shape and the compressed sizes of their planes), planes.
"""

import json
import os
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from optimizer import Optimizer

PIECE = 15 * 1024 * 1024


def _planes(t: Tensor) -> list[bytes]:
    width = t.element_size()
    raw = t.detach().cpu().contiguous().view(torch.uint8).numpy().reshape(-1, width)
    return [np.ascontiguousarray(raw[:, i]).tobytes() for i in range(width)]


def save(folder: Path, model: nn.Module, optimizer: Optimizer | None, step: int) -> list[Path]:
    tensors = {f"model.{n}": p for n, p in model.named_parameters()}
    if optimizer is not None:
        tensors |= {n: t.bfloat16() for n, t in optimizer.state().items()}
    with ThreadPoolExecutor(8) as pool:
        packed = {
            n: list(pool.map(lambda plane: zlib.compress(plane, 1), _planes(t))) for n, t in tensors.items()
        }
    header = json.dumps({
        "step": step,
        "count": optimizer.count if optimizer is not None else 0,
        "tensors": [
            [n, str(t.dtype).removeprefix("torch."), list(t.shape), [len(p) for p in packed[n]]]
            for n, t in tensors.items()
        ],
    }).encode()
    blob = len(header).to_bytes(8, "little") + header + b"".join(p for n in tensors for p in packed[n])
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("checkpoint.*"):
        old.unlink()
    paths = []
    for i in range(0, len(blob), PIECE):
        path = folder / f"checkpoint.{i // PIECE:03d}"
        part = path.with_suffix(path.suffix + ".part")
        part.write_bytes(blob[i : i + PIECE])
        os.replace(part, path)
        paths.append(path)
    return paths


def read(folder: Path) -> tuple[dict, dict[str, Tensor]]:
    """The header and the tensors. Raises FileNotFoundError where no piece lies in `folder`."""
    pieces = sorted(folder.glob("checkpoint.[0-9][0-9][0-9]"))
    if not pieces:
        raise FileNotFoundError(f"{folder} holds no checkpoint.NNN; give the folder of a saved training")
    blob = b"".join(p.read_bytes() for p in pieces)
    size = int.from_bytes(blob[:8], "little")
    header = json.loads(blob[8 : 8 + size])
    at = 8 + size
    tensors = {}
    for name, dtype, shape, sizes in header["tensors"]:
        planes = []
        for length in sizes:
            planes.append(np.frombuffer(zlib.decompress(blob[at : at + length]), dtype=np.uint8))
            at += length
        raw = torch.from_numpy(np.stack(planes, axis=1).reshape(-1))
        tensors[name] = raw.view(getattr(torch, dtype)).reshape(shape)
    return header, tensors


def load(folder: Path, model: nn.Module, optimizer: Optimizer | None) -> int:
    """Puts a checkpoint into the model and the optimizer; returns the step to go on with."""
    header, tensors = read(folder)
    with torch.no_grad():
        for name, p in model.named_parameters():
            p.copy_(tensors[f"model.{name}"])
        if optimizer is not None:
            for name, t in optimizer.state().items():
                t.copy_(tensors[name])
            optimizer.count = header["count"]
    return header["step"]
