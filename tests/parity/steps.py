"""Trainings of shoal beside the same in PyTorch: weights, batches and hyper-parameters are equal.

steps.py PROGRAM [NET...]: runs it (parity_steps), repeats what it did, prints one table, and exits
with 0 when every figure is met. What the columns say, all of them relative:
  float64      largest difference of a loss within 100 steps, reference backend          <= 1e-9
  first loss   of float32, CPU backend                                                   <= 1e-6
  gradients    largest |difference| / |gradient| of a tensor in the first step           <= 1e-5
  float32      largest difference of a loss within 100 steps: <= 1e-4, or for nets with convolutions
               at most 3 times the spread
  spread       the same between trainings in PyTorch alone whose initial weights differ by at most
               one unit in the last place; the largest of five
"""
import os
import subprocess
import sys
import tempfile

import numpy as np
import torch
from torch.nn import functional as F

import torch_nets

STEPS = 100
SPREADS = 5
SGD = ("sgd", 0.01, {"momentum": 0.9, "weight_decay": 1e-4})
ADAMW = ("adamw", 1e-3, {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8, "weight_decay": 0.01})
# net, rule, whether its float32 training is judged by the spread
ROWS = [
    ("mlp", SGD, False),
    ("mlp", ADAMW, False),
    ("cnn", SGD, True),
    ("batch_norm", SGD, True),
    ("group_norm", SGD, True),
    ("group_norm", ADAMW, True),
    ("lstm", SGD, False),
    ("lstm", ADAMW, False),
    ("gru", SGD, False),
]


def optimizer_of(rule, parameters):
    name, lr, o = rule
    if name == "sgd":
        return torch.optim.SGD(parameters, lr, o["momentum"], weight_decay=o["weight_decay"])
    return torch.optim.AdamW(parameters, lr, (o["beta1"], o["beta2"]), o["epsilon"],
                             o["weight_decay"])


def ours(program, net, rule, backend, folder):
    name, lr, options = rule
    path = os.path.join(folder, "steps.safetensors")
    words = [f"{key}={value}" for key, value in options.items()]
    subprocess.run([program, net, backend, name, str(lr), str(STEPS), path] + words, check=True)
    return torch_nets.Written(path)


def theirs(file, rule, dtype, noise=None):
    """Losses of every step and gradients of the first."""
    net = file.module().to(dtype)
    if noise is not None:
        with torch.no_grad():
            for p in net.parameters():
                up = torch.from_numpy(noise.choice([-np.inf, np.inf], p.shape)).to(dtype)
                p.copy_(torch.nextafter(p, up))
    optimizer = optimizer_of(rule, net.parameters())
    batches = sum(name.startswith("x") for name in file.tensors)
    losses, gradients = [], {}
    for step in range(STEPS):
        x = file.inputs(f"x{step % batches}")
        y = file.tensors[f"y{step % batches}"].long()
        optimizer.zero_grad()
        output = net(x if x.dtype == torch.long else x.to(dtype))
        loss = F.cross_entropy(output.reshape(len(y), -1), y)
        loss.backward()
        if step == 0:
            gradients = {name: p.grad.clone() for name, p in net.named_parameters()}
        optimizer.step()
        losses.append(float(loss.detach().double()))
    return np.array(losses), gradients


def apart(a, b):
    return float(np.max(np.abs(np.asarray(a) - b) / np.abs(b)))


def worst_gradient(file, gradients):
    own = file.part("gradient:")
    return max((float((own[name] - g).norm() / g.norm()), name) for name, g in gradients.items())


def compare(program, row, folder):
    net, rule, by_spread = row
    exact = ours(program, net, rule, "reference", folder)
    losses64, _ = theirs(exact, rule, torch.float64)
    off64 = apart(exact.notes["losses"], losses64)
    single = ours(program, net, rule, "cpu", folder)
    losses, gradients = theirs(single, rule, torch.float32)
    first = apart(single.notes["losses"][:1], losses[:1])
    gradient, tensor = worst_gradient(single, gradients)
    off32 = apart(single.notes["losses"], losses)
    spread = max(apart(theirs(single, rule, torch.float32, np.random.default_rng(i))[0], losses)
                 for i in range(SPREADS))
    bound = 3 * spread if by_spread else 1e-4
    met = off64 <= 1e-9 and first <= 1e-6 and gradient <= 1e-5 and off32 <= bound
    print(f"{net:<12} {rule[0]:<6} {losses[0]:7.4f} {losses[-1]:7.4f} {off64:9.1e} {first:11.1e} "
          f"{gradient:10.1e} {off32:9.1e} {bound:9.1e} {spread:9.1e}  "
          f"{'met' if met else 'NOT MET, gradient of ' + tensor}", flush=True)
    return met


def main():
    torch.set_num_threads(1)
    program, wanted = sys.argv[1], sys.argv[2:]
    print(f"against PyTorch {torch.__version__}, {STEPS} steps; from/to: loss, first and last")
    print(f"{'net':<12} {'rule':<6} {'from':>7} {'to':>7} {'float64':>9} {'first loss':>11} "
          f"{'gradients':>10} {'float32':>9} {'allowed':>9} {'spread':>9}")
    rows = [row for row in ROWS if not wanted or row[0] in wanted]
    with tempfile.TemporaryDirectory() as folder:
        met = [compare(program, row, folder) for row in rows]
    print(f"{sum(met)} of {len(met)} trainings agree")
    sys.exit(0 if met and all(met) else 1)


main()
