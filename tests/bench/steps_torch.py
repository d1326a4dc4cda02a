"""The other side of steps.cpp: the same training steps in PyTorch.

Reads lines "NAME STEPS" and answers each with a JSON list of the seconds of every step. The first
line it writes is PyTorch's version. Started by steps.cpp, which pins it and sets its threads.
"""
import json
import sys
import time

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(1)

CHARACTERS = 65


def flat(*layers):
    return nn.Sequential(nn.Flatten(), *layers)


def mlp():
    return flat(nn.Linear(784, 200), nn.ReLU(), nn.Linear(200, 200), nn.ReLU(), nn.Linear(200, 10))


def lenet5():
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
        flat(nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)))


def cnn():
    return nn.Sequential(
        nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        flat(nn.Linear(3136, 512), nn.ReLU(), nn.Linear(512, 10)))


def stepper(model, x, y, rows):
    """Forward, backward and SGD with momentum as a call; `rows` gives a row of scores for each y."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

    def step():
        optimizer.zero_grad()
        nn.functional.cross_entropy(rows(model(x)), y).backward()
        optimizer.step()

    return step


def images(model):
    """A step of a classifier of 28x28 images, batch 64."""
    x = torch.randn(64, 1, 28, 28)
    y = torch.randint(0, 10, (64,))
    return stepper(model, x, y, lambda scores: scores)


class Block(nn.Module):
    """A block of a transformer that normalises before each part."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.think = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x, mask):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2)
                   for part in self.qkv(self.norm1(x)).split(width, 2))
        scores = (q @ k.transpose(2, 3)) / (width // self.heads) ** 0.5
        weights = scores.masked_fill(mask, float("-inf")).softmax(3)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(batch, length, width))
        return x + self.think(self.norm2(x))


class Gpt(nn.Module):
    def __init__(self, width, depth, heads, length):
        super().__init__()
        self.tokens = nn.Embedding(CHARACTERS, width)
        self.places = nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(depth))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, CHARACTERS, bias=False)
        self.register_buffer("mask", torch.ones(length, length).triu(1).bool())

    def forward(self, x):
        x = self.tokens(x) + self.places.weight
        for block in self.blocks:
            x = block(x, self.mask)
        return self.head(self.norm(x))


class CharLstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(CHARACTERS, 8)
        self.lstm = nn.LSTM(8, 256, 2, batch_first=True)
        self.fc = nn.Linear(256, CHARACTERS)

    def forward(self, x):
        return self.fc(self.lstm(self.embedding(x))[0])


def texts(model, batch, length):
    """A step of a model that says the next character for every place."""
    x = torch.randint(0, CHARACTERS, (batch, length))
    y = torch.randint(0, CHARACTERS, (batch * length,))
    return stepper(model, x, y, lambda scores: scores.view(-1, CHARACTERS))


ROWS = {
    "mlp": lambda: images(mlp()),
    "lenet5": lambda: images(lenet5()),
    "cnn": lambda: images(cnn()),
    "char_lstm": lambda: texts(CharLstm(), 10, 80),
    "gpt_small": lambda: texts(Gpt(128, 4, 4, 64), 32, 64),
    "gpt": lambda: texts(Gpt(384, 6, 6, 256), 4, 256),
}


def main():
    print(json.dumps(torch.__version__), flush=True)
    steps = {}
    for line in sys.stdin:
        name, count = line.split()
        step = steps.setdefault(name, ROWS[name]())
        seconds = []
        for _ in range(int(count)):
            begin = time.process_time()
            step()
            seconds.append(time.process_time() - begin)
        print(json.dumps(seconds), flush=True)


main()
