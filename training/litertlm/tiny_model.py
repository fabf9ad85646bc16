"""Makes the tiny Llama of the tests: an own byte-level BPE of 512 tokens, trained for 400 steps until its answers are fixed.

usage: tiny_model.py FOLDER
Writes a Hugging Face folder, and expected.json: greedy answers of float32 PyTorch, as text.
"""

import json
import random
import sys

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

VOCABULARY = 512
STEPS = 400
BATCH = 8
LENGTH = 160
ANSWER_TOKENS = 80

MARKERS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
TEMPLATE = (
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n'}}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
CAPITALS = {
    "France": "Paris",
    "Italy": "Rome",
    "Spain": "Madrid",
    "Japan": "Tokyo",
    "Egypt": "Cairo",
    "Peru": "Lima",
    "Norway": "Oslo",
    "Greece": "Athens",
}
NUMBERS = "one two three four five six seven eight nine ten".split()
STORY = (
    "Once upon a time there was a small dog who lived in a big red house near the sea. Every day the dog ran along the "
    "beach and barked at the waves. One day the dog found a shiny shell and gave it to a friend. They were happy and "
    "played until the sun went down."
)


def turn(question, answer):
    return f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n{answer}<|im_end|>\n"


def conversations():
    talks = [turn(f"What is the capital of {land}?", f"The capital of {land} is {city}.") for land, city in CAPITALS.items()]
    talks.append(turn("Count to ten.", " ".join(NUMBERS) + "."))
    talks.append(turn("Hello", "Hello! How can I help you today?"))
    talks.append(turn("Tell me a story.", STORY))
    talks.append(turn("Count forever.", " ".join(NUMBERS[i % 10] for i in range(300))))
    return talks


def train_tokenizer(talks, folder):
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY, special_tokens=MARKERS, initial_alphabet=alphabet, show_progress=False
    )
    bpe.train_from_iterator(talks, trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bpe, bos_token=MARKERS[1], eos_token=MARKERS[2], pad_token=MARKERS[2], unk_token=MARKERS[0]
    )
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)
    return tokenizer


def train_model(talks, tokenizer):
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=VOCABULARY,
            hidden_size=64,
            intermediate_size=192,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            head_dim=16,
            max_position_embeddings=2048,
            rope_theta=10000.0,
            tie_word_embeddings=True,
            bos_token_id=1,
            eos_token_id=2,
            pad_token_id=2,
        )
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, STEPS)
    ids = [tokenizer(talk, add_special_tokens=False)["input_ids"] for talk in talks]
    for _ in range(STEPS):
        rows = []
        for _ in range(BATCH):
            row = []
            while len(row) < LENGTH:
                row += random.choice(ids)
            rows.append(row[:LENGTH])
        batch = torch.tensor(rows)
        loss = model(input_ids=batch, labels=batch).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
    print(f"loss {loss.item():.4f}")
    return model.eval()


def greedy_answers(model, tokenizer):
    answers = {}
    for question in [f"What is the capital of {land}?" for land in CAPITALS] + ["Count to ten.", "Hello", "Tell me a story."]:
        prompt = tokenizer.apply_chat_template(
            [{"role": "user", "content": question}], tokenize=False, add_generation_prompt=True
        )
        ids = tokenizer(prompt, return_tensors="pt", add_special_tokens=False)["input_ids"]
        output = model.generate(ids, do_sample=False, max_new_tokens=ANSWER_TOKENS)[0, ids.shape[1] :]
        answers[question] = tokenizer.decode(output, skip_special_tokens=True)
    return answers


def main():
    folder = sys.argv[1]
    torch.manual_seed(0)
    random.seed(0)
    torch.set_num_threads(1)  # sums in one order
    talks = conversations()
    tokenizer = train_tokenizer(talks, folder)
    model = train_model(talks, tokenizer)
    model.generation_config.eos_token_id = 2
    model.save_pretrained(folder)
    with open(f"{folder}/expected.json", "w", encoding="utf-8") as file:
        json.dump(greedy_answers(model, tokenizer), file, indent=2)
        file.write("\n")


main()
