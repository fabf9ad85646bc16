"""Writes a checkpoint as GGUF: export_gguf.py CHECKPOINT_FOLDER TOKENIZER.json OUT.gguf [f32|q8_0]

q8_0 quantizes every matrix, the embedding (which is the output too) among them; the norms stay f32.
"""

import json
import os
import sys
from pathlib import Path

import gguf
import numpy as np

import checkpoint
from model import Config

CHAT_TEMPLATE = (
    "{%- for message in messages -%}"
    "{{- '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' -}}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}"
)


def add_tokenizer(writer: gguf.GGUFWriter, path: Path) -> None:
    file = json.loads(path.read_text())
    special = {t["content"]: t["id"] for t in file["added_tokens"]}
    tokens = [""] * len(file["model"]["vocab"])
    for text, i in file["model"]["vocab"].items():
        tokens[i] = text
    types = [gguf.TokenType.CONTROL if t in special else gguf.TokenType.NORMAL for t in tokens]
    merges = [m if isinstance(m, str) else " ".join(m) for m in file["model"]["merges"]]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    writer.add_token_merges(merges)
    writer.add_bos_token_id(special["<|endoftext|>"])
    writer.add_eos_token_id(special["<|im_end|>"])
    writer.add_eot_token_id(special["<|im_end|>"])
    writer.add_pad_token_id(special["<|endoftext|>"])
    writer.add_add_bos_token(False)
    writer.add_add_eos_token(False)
    writer.add_chat_template(CHAT_TEMPLATE)


def main(folder: str, tokenizer: str, out: str, kind: str = "f32") -> None:
    if kind not in ("f32", "q8_0"):
        raise ValueError(f"the type is '{kind}'; give f32 or q8_0")
    c = Config()
    _, tensors = checkpoint.read(Path(folder))
    part = out + ".part"
    writer = gguf.GGUFWriter(part, "qwen3")
    writer.add_name("Pico")
    writer.add_description("A small model that remembers what it is told, for tests and demonstrations")
    writer.add_license("MIT")
    writer.add_context_length(c.context)
    writer.add_embedding_length(c.width)
    writer.add_block_count(c.layers)
    writer.add_feed_forward_length(c.hidden)
    writer.add_head_count(c.heads)
    writer.add_head_count_kv(c.kv_heads)
    writer.add_key_length(c.head_dim)
    writer.add_value_length(c.head_dim)
    writer.add_layer_norm_rms_eps(c.norm_eps)
    writer.add_rope_freq_base(c.rope_base)
    writer.add_vocab_size(c.vocabulary)
    quantized = gguf.GGMLQuantizationType.Q8_0
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0 if kind == "q8_0" else gguf.LlamaFileType.ALL_F32)
    writer.add_quantization_version(gguf.GGML_QUANT_VERSION)
    add_tokenizer(writer, Path(tokenizer))
    for name, tensor in tensors.items():
        if not name.startswith("model."):
            continue
        # The parameters carry llama.cpp's names already.
        data = tensor.float().numpy()
        if kind == "q8_0" and data.ndim == 2:
            packed = gguf.quants.quantize(data.astype(np.float32), quantized)
            writer.add_tensor(name.removeprefix("model."), packed, raw_dtype=quantized)
        else:
            writer.add_tensor(name.removeprefix("model."), data)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    os.replace(part, out)
    print(f"{out}: {os.path.getsize(out)} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
