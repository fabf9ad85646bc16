"""Draws the loss curve and checks the second training against the first:

    plot_loss.py LOG.jsonl SECOND.jsonl OUT.png OUT.csv

Means over 32 steps. Fails where the second training's mean is more than 1 % from the first one's.
"""

import csv
import json
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

STEPS = 32
COLUMNS = ("loss", "prose_loss", "answer_loss", "answer_accuracy")


def read(path: str) -> tuple[list[dict], list[dict]]:
    rows = [json.loads(line) for line in open(path)]
    return [r for r in rows if "loss" in r], [r for r in rows if "held_out" in r]


def means(rows: list[dict]) -> list[dict]:
    out = []
    for at in range(0, len(rows) - STEPS + 1, STEPS):
        part = rows[at : at + STEPS]
        line = {"step": part[-1]["step"] + 1, "length": part[-1]["length"]}
        out.append(line | {c: round(sum(r[c] for r in part) / STEPS, 5) for c in COLUMNS})
    return out


def main(log: str, second: str, picture: str, table: str) -> None:
    steps, held_out = read(log)
    first, again = means(steps), means(read(second)[0])
    with open(table, "w", newline="") as out:
        writer = csv.DictWriter(out, ["step", "length", *COLUMNS, "second_loss"], lineterminator="\n")
        writer.writeheader()
        for i, line in enumerate(first):
            writer.writerow(line | {"second_loss": again[i]["loss"] if i < len(again) else ""})

    plt.rcParams.update({"font.size": 9, "svg.hashsalt": "pico"})
    figure, axes = plt.subplots(1, 2, figsize=(10, 4))
    for axis, span in zip(axes, (len(first), len(again))):
        x = [r["step"] for r in first[:span]]
        axis.plot(x, [r["prose_loss"] for r in first[:span]], label="foreseeable text", color="tab:blue")
        axis.plot(x, [r["answer_loss"] for r in first[:span]], label="answers", color="tab:red")
        axis.plot(x, [r["loss"] for r in first[:span]], label="weighted loss", color="0.4")
        axis.set(yscale="log", xlabel="step of 65,536 tokens", ylabel="cross entropy, nats a token")
    for line, following in zip(first, first[1:]):
        if line["length"] != following["length"]:
            axes[0].axvline(line["step"], color="0.8", zorder=0)
            axes[0].text(line["step"], 6, f" {following['length']}", color="0.5")
    axes[0].set_title("first training; grey lines: longer windows")
    axes[1].plot([r["step"] for r in again], [r["loss"] for r in again], "k.", label="weighted loss, second")
    axes[1].set_title("the second training, in two processes")
    for axis in axes:
        axis.legend()
    figure.tight_layout()
    figure.savefig(picture, dpi=110)

    worst = max(abs(b["loss"] / a["loss"] - 1) for a, b in zip(first, again))
    print(f"second training: {len(again) * STEPS} steps, largest difference of {STEPS}-step means {worst:.2%}")
    for line in held_out[-4:]:
        print(line)
    print(f"{steps[-1]['seconds']} s for {len(steps)} steps")
    if worst > 0.01:
        sys.exit("the second training is more than 1 % away")


if __name__ == "__main__":
    main(*sys.argv[1:])
