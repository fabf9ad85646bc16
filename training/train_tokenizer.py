"""Trains the byte-level BPE tokenizer: train_tokenizer.py CORPUS OUT.json

Pre-tokenizer: the one llama.cpp calls "qwen2", in the spelled-out form that it runs. No normalizer.
"""

import sys

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

VOCABULARY = 3072
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
PRE_TOKEN = (
    r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def main(corpus: str, out: str) -> None:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(PRE_TOKEN), behavior="isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train([corpus], trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        max_token_length=16,
        show_progress=False,
    ))
    tokenizer.save(out)
    print(f"{out}: {tokenizer.get_vocab_size()} tokens")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
