"""Turns a GGUF file of the Llama or Qwen3 family into a Hugging Face folder with float32 weights.

usage: gguf_to_hf.py FILE.gguf FOLDER
"""

import json
import os
import sys

import gguf
import numpy as np
import torch
from gguf.quants import dequantize
from safetensors.torch import save_file

CONTROL = 3  # tokenizer.ggml.token_type

LAYER = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
}


def halves_of_pairs(weight, heads):
    """llama.cpp keeps the two dimensions that a rotation turns beside each other; Transformers in two halves of a head."""
    rows, width = weight.shape
    return weight.reshape(heads, rows // heads // 2, 2, width).swapaxes(1, 2).reshape(rows, width)


def weights_of(reader, architecture, heads, kv_heads):
    weights = {}
    for tensor in reader.tensors:
        values = torch.from_numpy(np.array(dequantize(tensor.data, tensor.tensor_type), dtype=np.float32))
        name = tensor.name.removesuffix(".weight")
        if name == "token_embd":
            place = "model.embed_tokens"
        elif name == "output_norm":
            place = "model.norm"
        elif name == "output":
            place = "lm_head"
        elif name.startswith("blk."):
            _, layer, part = name.split(".")
            place = f"model.layers.{layer}.{LAYER[part]}"
            if architecture == "llama" and part in ("attn_q", "attn_k"):
                values = halves_of_pairs(values, heads if part == "attn_q" else kv_heads)
        else:
            raise SystemExit(f"{tensor.name} is not known")
        weights[f"{place}.weight"] = values.contiguous()
    return weights


def tokenizer_of(field):
    tokens = field("tokenizer.ggml.tokens")
    types = field("tokenizer.ggml.token_type")
    added = [
        {"id": i, "content": token, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
        for i, (token, kind) in enumerate(zip(tokens, types))
        if kind == CONTROL
    ]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    digits = {"type": "Digits", "individual_digits": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [digits, byte_level]},
        "post_processor": None,
        "decoder": {**byte_level, "add_prefix_space": True},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {token: i for i, token in enumerate(tokens)},
            "merges": [merge.split(" ") for merge in field("tokenizer.ggml.merges")],
        },
    }


def write_json(path, value):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file, ensure_ascii=False, indent=1)


def main():
    source, folder = sys.argv[1:3]
    os.makedirs(folder, exist_ok=True)
    reader = gguf.GGUFReader(source)

    def field(name, default=None):
        found = reader.fields.get(name)
        return default if found is None else found.contents()

    architecture = field("general.architecture")
    kinds = {"llama": "LlamaForCausalLM", "qwen3": "Qwen3ForCausalLM"}
    if architecture not in kinds:
        raise SystemExit(f"{architecture} is not known; known are {', '.join(kinds)}")

    def of_model(name, default=None):
        return field(f"{architecture}.{name}", default)

    heads, kv_heads = of_model("attention.head_count"), of_model("attention.head_count_kv")
    width = of_model("embedding_length")
    head_dim = of_model("attention.key_length") or of_model("rope.dimension_count") or width // heads
    tokens = field("tokenizer.ggml.tokens")
    # A begin token that the model does not want before every text would be put there by the runtime.
    begin = field("tokenizer.ggml.bos_token_id") if field("tokenizer.ggml.add_bos_token", False) else None
    end = field("tokenizer.ggml.eos_token_id")
    weights = weights_of(reader, architecture, heads, kv_heads)
    save_file(weights, f"{folder}/model.safetensors", metadata={"format": "pt"})
    ids = {"bos_token_id": begin, "eos_token_id": end, "pad_token_id": end}
    write_json(
        f"{folder}/config.json",
        {
            "architectures": [kinds[architecture]],
            "model_type": architecture,
            "hidden_size": width,
            "intermediate_size": of_model("feed_forward_length"),
            "num_hidden_layers": of_model("block_count"),
            "num_attention_heads": heads,
            "num_key_value_heads": kv_heads,
            "head_dim": head_dim,
            "vocab_size": len(tokens),
            "max_position_embeddings": of_model("context_length"),
            "rms_norm_eps": of_model("attention.layer_norm_rms_epsilon"),
            "rope_theta": float(of_model("rope.freq_base")),
            "hidden_act": "silu",
            "tie_word_embeddings": "lm_head.weight" not in weights,
            "attention_bias": False,
            "torch_dtype": "float32",
            **ids,
        },
    )
    write_json(f"{folder}/generation_config.json", ids)
    write_json(f"{folder}/tokenizer.json", tokenizer_of(field))
    marker = lambda i: None if i is None else tokens[i]
    write_json(
        f"{folder}/tokenizer_config.json",
        {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "bos_token": marker(begin),
            "eos_token": marker(end),
            "pad_token": marker(end),
            "add_bos_token": False,
            "add_prefix_space": False,
            "clean_up_tokenization_spaces": False,
            "chat_template": field("tokenizer.chat_template"),
        },
    )


main()
