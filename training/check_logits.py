"""Compares llama.cpp's logits with PyTorch's, both in f32:

    check_logits.py CHECKPOINT_FOLDER EVALUATION F32.gguf PICO_CHECK

On the first window of 512 tokens of the evaluation set. Fails above 1e-3.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch

import checkpoint
from model import Config, Pico

TOLERANCE = 1e-3


def main(folder: str, evaluation: str, model_path: str, program: str) -> None:
    model = Pico(Config()).eval()
    checkpoint.load(Path(folder), model, None)
    with open(evaluation) as lines:
        window = next(line for line in lines if line.startswith("W 512 "))
    ids = [int(word) & 4095 for word in window.split()[2:]]
    with torch.no_grad():
        ours = model(torch.tensor([ids]))[0].numpy()
    with tempfile.TemporaryDirectory() as work:
        ids_path, out_path = Path(work, "ids"), Path(work, "logits")
        ids_path.write_text(" ".join(map(str, ids)))
        subprocess.run([program, "logits", model_path, str(ids_path), str(out_path)], check=True)
        theirs = np.fromfile(out_path, dtype="<f4").reshape(ours.shape)
    worst = float(np.abs(ours - theirs).max())
    print(f"{len(ids)} positions, logits from {ours.min():.2f} to {ours.max():.2f}, largest difference {worst:.2e}")
    if not worst < TOLERANCE:
        sys.exit(f"the largest difference {worst} is not below {TOLERANCE}")


if __name__ == "__main__":
    main(*sys.argv[1:])
