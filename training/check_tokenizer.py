"""Compares the generator's token ids with those of Hugging Face tokenizers: check_tokenizer.py TOKENIZER.json SHARD..."""

import sys
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer


def main(tokenizer_path: str, shards: list[str]) -> None:
    tokenizer = Tokenizer.from_file(tokenizer_path)
    for shard in shards:
        length = int(Path(shard).name.split("-")[0])
        rows = (np.fromfile(shard, dtype="<u2") & 4095).reshape(-1, length).tolist()
        for i, ids in enumerate(rows):
            text = tokenizer.decode(ids, skip_special_tokens=False)
            if tokenizer.encode(text).ids != ids:
                sys.exit(f"{shard}, window {i}: the ids differ")
        print(f"{shard}: {len(rows)} windows agree")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
