"""Muon (Jordan et al. 2024) for the matrices of the blocks, Adam for the embedding and the norms."""

import torch
from torch import Tensor, nn


def orthogonalize(g: Tensor) -> Tensor:
    """Newton-Schulz with the quintic of the Muon reference, five steps in bf16. g: [n, rows, columns]"""
    a, b, c = 3.4445, -4.7750, 2.0315
    x = g.bfloat16()
    tall = x.shape[1] > x.shape[2]
    if tall:
        x = x.mT
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(5):
        y = x @ x.mT
        x = a * x + (b * y + c * (y @ y)) @ x
    return x.mT if tall else x


class Optimizer:
    """One step for both groups. Learning rates are the peak values; `step` takes the schedule's factor."""

    def __init__(self, model: nn.Module, muon_rate: float, adam_rate: float, weight_decay: float) -> None:
        self.muon_rate, self.adam_rate, self.weight_decay = muon_rate, adam_rate, weight_decay
        named = dict(model.named_parameters())
        shapes: dict[tuple[int, ...], list[str]] = {}
        for name, p in named.items():
            if name.startswith("blk.") and p.ndim == 2:
                shapes.setdefault(tuple(p.shape), []).append(name)
        self.groups = [(names, [named[n] for n in names]) for names in shapes.values()]
        self.momentum = [torch.zeros_like(torch.stack(params)) for _, params in self.groups]
        in_groups = {n for names, _ in self.groups for n in names}
        self.rest = [(n, p) for n, p in named.items() if n not in in_groups]
        self.first = [torch.zeros_like(p) for _, p in self.rest]
        self.second = [torch.zeros_like(p) for _, p in self.rest]
        self.count = 0

    @torch.no_grad()
    def step(self, factor: float) -> None:
        self.count += 1
        rate = self.muon_rate * factor
        for (_, params), m in zip(self.groups, self.momentum):
            g = torch.stack([p.grad for p in params])
            m.lerp_(g, 0.05)
            update = orthogonalize(g.lerp(m, 0.95))
            scale = max(1.0, g.shape[1] / g.shape[2]) ** 0.5
            torch._foreach_mul_(params, 1 - rate * self.weight_decay)
            torch._foreach_add_(params, list(update.float().unbind(0)), alpha=-rate * scale)
        params = [p for _, p in self.rest]
        grads = [p.grad for p in params]
        torch._foreach_lerp_(self.first, grads, 0.1)
        torch._foreach_lerp_(self.second, torch._foreach_mul(grads, grads), 0.05)
        denominator = torch._foreach_sqrt(torch._foreach_div(self.second, 1 - 0.95**self.count))
        torch._foreach_add_(denominator, 1e-10)
        size = -self.adam_rate * factor / (1 - 0.9**self.count)
        torch._foreach_addcdiv_(params, self.first, denominator, value=size)

    def state(self) -> dict[str, Tensor]:
        state = {f"muon.{i}": m for i, m in enumerate(self.momentum)}
        for i, (name, _) in enumerate(self.rest):
            state[f"adam.first.{name}"] = self.first[i]
            state[f"adam.second.{name}"] = self.second[i]
        return state
