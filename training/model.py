"""The model: Qwen3 as llama.cpp knows it (RMSNorm, q and k norms, rotary positions, SwiGLU, tied embeddings)."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    vocabulary: int = 3072
    context: int = 4096
    width: int = 384
    layers: int = 6
    heads: int = 4
    kv_heads: int = 2
    head_dim: int = 128
    hidden: int = 896
    rope_base: float = 1_000_000.0
    norm_eps: float = 1e-6


def rotary_tables(config: Config, length: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """cos and sin, each [length, head_dim / 2] in f32; dimension i turns with dimension i + head_dim / 2."""
    half = config.head_dim // 2
    frequency = config.rope_base ** (-torch.arange(half, dtype=torch.float64) / half)
    angle = torch.outer(torch.arange(length, dtype=torch.float64), frequency)
    return angle.cos().float().to(device), angle.sin().float().to(device)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """x: [batch, time, heads, head_dim]"""
    a, b = x.float().chunk(2, dim=-1)
    cos, sin = cos[None, :, None, :], sin[None, :, None, :]
    return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1).to(x.dtype)


class Norm(nn.Module):
    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        y = x.float()
        return (y * torch.rsqrt(y.square().mean(-1, keepdim=True) + self.eps) * self.weight).to(x.dtype)


class Block(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        c = self.config = config
        self.attn_norm = Norm(c.width, c.norm_eps)
        self.attn_q = nn.Linear(c.width, c.heads * c.head_dim, bias=False)
        self.attn_k = nn.Linear(c.width, c.kv_heads * c.head_dim, bias=False)
        self.attn_v = nn.Linear(c.width, c.kv_heads * c.head_dim, bias=False)
        self.attn_q_norm = Norm(c.head_dim, c.norm_eps)
        self.attn_k_norm = Norm(c.head_dim, c.norm_eps)
        self.attn_output = nn.Linear(c.heads * c.head_dim, c.width, bias=False)
        self.ffn_norm = Norm(c.width, c.norm_eps)
        self.ffn_gate = nn.Linear(c.width, c.hidden, bias=False)
        self.ffn_up = nn.Linear(c.width, c.hidden, bias=False)
        self.ffn_down = nn.Linear(c.hidden, c.width, bias=False)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        """x: [batch, time, width]"""
        c = self.config
        batch, time, _ = x.shape
        y = self.attn_norm(x)
        q = self.attn_q(y).view(batch, time, c.heads, c.head_dim)
        k = self.attn_k(y).view(batch, time, c.kv_heads, c.head_dim)
        v = self.attn_v(y).view(batch, time, c.kv_heads, c.head_dim)
        q = rotate(self.attn_q_norm(q), cos, sin)
        k = rotate(self.attn_k_norm(k), cos, sin)
        groups = c.heads // c.kv_heads
        k = k.repeat_interleave(groups, dim=2)
        v = v.repeat_interleave(groups, dim=2)
        y = F.scaled_dot_product_attention(
            q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), is_causal=True
        )
        x = x + self.attn_output(y.transpose(1, 2).reshape(batch, time, c.heads * c.head_dim))
        y = self.ffn_norm(x)
        return x + self.ffn_down(F.silu(self.ffn_gate(y)) * self.ffn_up(y))


class Pico(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.token_embd = nn.Embedding(config.vocabulary, config.width)
        self.blk = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.output_norm = Norm(config.width, config.norm_eps)
        nn.init.normal_(self.token_embd.weight, std=0.03)
        for block in self.blk:
            for name in ("attn_q", "attn_k", "attn_v", "ffn_gate", "ffn_up"):
                nn.init.normal_(getattr(block, name).weight, std=0.6 * config.width**-0.5)
            # Both ways back into the stream start at nothing, so that the first steps are calm.
            nn.init.zeros_(block.attn_output.weight)
            nn.init.zeros_(block.ffn_down.weight)

    def hidden(self, tokens: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        """tokens: [batch, time] -> [batch, time, width], before the output norm."""
        x = self.token_embd(tokens)
        for block in self.blk:
            x = block(x, cos, sin)
        return x

    def logits(self, hidden: Tensor) -> Tensor:
        return F.linear(self.output_norm(hidden), self.token_embd.weight)

    def forward(self, tokens: Tensor) -> Tensor:
        """[batch, time] -> [batch, time, vocabulary]"""
        cos, sin = rotary_tables(self.config, tokens.shape[1], tokens.device)
        return self.logits(self.hidden(tokens, cos, sin))
