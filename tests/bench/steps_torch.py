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


def images(model):
    """A step of a classifier of 28x28 images, batch 64."""
    x = torch.randn(64, 1, 28, 28)
    y = torch.randint(0, 10, (64,))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

    def step():
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    return step


ROWS = {
    "mlp": lambda: images(mlp()),
    "lenet5": lambda: images(lenet5()),
    "cnn": lambda: images(cnn()),
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
