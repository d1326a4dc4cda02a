"""nn.Modules equivalent to shoal's layers, under the same names, made from the description that
written.cpp gives of a model. A state_dict of one fits the other: load_state_dict(strict=True).
"""
import json

import torch
from safetensors import safe_open
from torch import nn
from torch.nn import functional as F

ACTIVATIONS = {
    "none": lambda x: x,
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
}


class Rest(nn.Module):
    """A function as a module: nothing to learn."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


class Positions(nn.Embedding):
    def forward(self, x):
        return x + self.weight[: x.shape[1]]


class CausalAttention(nn.MultiheadAttention):
    def forward(self, x):
        length = x.shape[1]
        later = torch.ones(length, length, dtype=torch.bool).triu(1)
        return super().forward(x, x, x, attn_mask=later, need_weights=False)[0]


class Lstm(nn.LSTM):
    def forward(self, x):
        return super().forward(x)[0]


class Gru(nn.GRU):
    def forward(self, x):
        return super().forward(x)[0]


class Conv(nn.Conv2d):
    def forward(self, x):
        return super().forward(x if x.dim() == 4 else x.unsqueeze(1))


class LayerNorm(nn.LayerNorm):
    """PyTorch 1.13 has no LayerNorm without a bias."""

    def __init__(self, width, eps, bias):
        super().__init__(width, eps)
        if not bias:
            self.register_parameter("bias", None)


class RmsNorm(nn.Module):
    """As torch.nn.RMSNorm, which PyTorch has from 2.4 on."""

    def __init__(self, width, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


class Chain(nn.Module):
    """Layers one after the other; "a.b" as a name lies in a module "a"."""

    def __init__(self, layers):
        super().__init__()
        self.steps = []  # (path, what follows it)
        for layer in layers:
            if layer["type"] not in MAKERS:
                raise KeyError(f"add a module for {layer['type']} to MAKERS of torch_nets.py")
            module, after = MAKERS[layer["type"]](layer["options"], layer["input"], layer)
            self.steps.append((layer["name"], after))
            *outer, last = layer["name"].split(".")
            place = self
            for part in outer:
                if not hasattr(place, part):
                    place.add_module(part, nn.Module())
                place = getattr(place, part)
            place.add_module(last, module)

    def forward(self, x):
        for path, after in self.steps:
            x = after(self.get_submodule(path)(x))
        return x


class Residual(Chain):
    def __init__(self, options, layer):
        super().__init__(layer["inner"] + layer["shortcut"])
        self.split = len(layer["inner"])
        self.activation = ACTIVATIONS[options["activation"]]

    def forward(self, x):
        y, other = x, x
        for index, (path, after) in enumerate(self.steps):
            if index < self.split:
                y = after(self.get_submodule(path)(y))
            else:
                other = after(self.get_submodule(path)(other))
        return self.activation(y + other)


def conv2d(o, shape, _):
    channels = 1 if len(shape) == 2 else shape[0]
    module = Conv(channels, o["out"], o["kernel"], o["stride"], o["padding"], o["dilation"],
                  o["groups"], o["bias"])
    activation = ACTIVATIONS[o["activation"]]
    pool = o["max_pool"]
    return module, (lambda x: F.max_pool2d(activation(x), pool) if pool > 1 else activation(x))


def linear(o, shape, _):
    return nn.Linear(shape[-1], o["out"], o["bias"]), ACTIVATIONS[o["activation"]]


def plain(make):
    return lambda o, shape, layer: (make(o, shape), lambda x: x)


def attention(o, shape, layer):
    module = CausalAttention(shape[1], o["heads"], bias=o["bias"], batch_first=True)
    return module, (lambda x: x)


def recurrent(kind):
    return plain(lambda o, s: kind(s[1], o["hidden"], o["layers"], o["bias"], batch_first=True))


def pool(kind):
    return plain(lambda o, s: kind(o["kernel"], o["stride"] or o["kernel"], o["padding"]))


def activation(name):
    return plain(lambda o, s: Rest(ACTIVATIONS[name]))


MAKERS = {
    "linear": linear,
    "conv2d": conv2d,
    "residual": lambda o, s, layer: (Residual(o, layer), lambda x: x),
    "flatten": plain(lambda o, s: nn.Flatten()),
    "max_pool": pool(nn.MaxPool2d),
    "avg_pool": pool(nn.AvgPool2d),
    "global_avg_pool": plain(lambda o, s: Rest(lambda x: x.flatten(2).mean(2))),
    "batch_norm": plain(lambda o, s: (nn.BatchNorm2d if len(s) == 3 else nn.BatchNorm1d)(
        s[0], o["eps"], o["momentum"])),
    "group_norm": plain(lambda o, s: nn.GroupNorm(o["groups"], s[0], o["eps"])),
    "layer_norm": plain(lambda o, s: LayerNorm(s[-1], o["eps"], o["bias"])),
    "rms_norm": plain(lambda o, s: RmsNorm(s[-1], o["eps"])),
    "embedding": plain(lambda o, s: nn.Embedding(o["vocabulary"], o["width"])),
    "positions": plain(lambda o, s: Positions(o["context"] or s[0], s[1])),
    "attention": attention,
    "lstm": recurrent(Lstm),
    "gru": recurrent(Gru),
    "dropout": plain(lambda o, s: nn.Dropout(o["p"])),
    "relu": activation("relu"),
    "silu": activation("silu"),
    "tanh": activation("tanh"),
    "sigmoid": activation("sigmoid"),
    "gelu": plain(lambda o, s: nn.GELU(o["approximate"])),
}


def make(model):
    """The module of a description; tied parameters are one."""
    net = Chain(model["layers"])
    for layer in model["layers"]:
        for name, other in layer.get("ties", []):
            module = net.get_submodule(layer["name"])
            *path, last = name.split(".")
            for part in path:
                module = getattr(module, part)
            setattr(module, last, net.get_parameter(other))
    return net


class Written:
    """A file of one of the programs: tensors by prefix, notes as JSON."""

    def __init__(self, path):
        with safe_open(path, "pt") as file:
            self.tensors = {name: file.get_tensor(name) for name in file.keys()}
            self.notes = {key: json.loads(text) for key, text in file.metadata().items()}

    def part(self, prefix):
        return {name[len(prefix):]: tensor for name, tensor in self.tensors.items()
                if name.startswith(prefix)}

    def module(self):
        """The model with the weights of the file, every name and shape as PyTorch has them."""
        net = make(self.notes["model"])
        net.load_state_dict(self.part("param:"), strict=True)
        return net

    def inputs(self, name="x"):
        return self.tensors[name].long() if self.notes["model"]["index"] else self.tensors[name]
