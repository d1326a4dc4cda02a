"""Every layer and model of shoal's registries against onnxruntime and PyTorch.

exports.py PROGRAM: runs it (parity_exports), loads what it wrote, and compares what the CPU backend
gave with onnxruntime's (1e-4) and with an equivalent nn.Module's (1e-5) of the largest output or 1.
What the module saves must be read as the same weights. Prints a line for what differs and a sum; exit 0 when nothing does.
"""
import glob
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnxruntime
import torch
from safetensors.torch import save_file

import torch_nets

# What ONNX has no form for; none so far.
NO_ONNX = set()


def off(ours, theirs):
    """The largest difference, as a part of the largest output or of 1."""
    if ours.shape != theirs.shape:
        return float("inf")
    return float(np.max(np.abs(ours - theirs)) / max(1.0, np.max(np.abs(theirs))))


def by_onnx(path, x, y):
    """All samples at once, and the first alone: the batch is free."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, ["CPUExecutionProvider"])
    whole = session.run(["output"], {"input": x})[0]
    first = session.run(["output"], {"input": x[:1]})[0]
    return max(off(y, whole), off(y[:1], first))


def by_torch(file, path, y):
    net = file.module().eval()
    save_file({name: tensor.clone() for name, tensor in net.state_dict().items()}, path)
    with torch.no_grad():
        return off(y, net(file.inputs()).numpy())


def compare(program, folder):
    bad = 0
    worst = {"onnxruntime": (0.0, ""), "PyTorch": (0.0, "")}
    paths = sorted(glob.glob(os.path.join(folder, "*.safetensors")))
    for path in paths:
        stem = path[: -len(".safetensors")]
        name = os.path.basename(stem)
        file = torch_nets.Written(path)
        y = file.tensors["y"].numpy()
        checks = {"PyTorch": (1e-5, lambda: by_torch(file, stem + ".back", y))}
        if name.split("-")[1] not in NO_ONNX:
            checks["onnxruntime"] = (1e-4, lambda: by_onnx(
                stem + ".onnx", file.inputs().numpy(), y))
        for by, (bound, check) in checks.items():
            try:
                found = check()
            except Exception as error:  # what a library says of one case must not hide the rest
                print(f"{name}: {by}: {error}")
                bad += 1
                continue
            worst[by] = max(worst[by], (found, name))
            if not found <= bound:
                print(f"{name}: {by}: off by {found:.2e}, more than {bound:.0e}")
                bad += 1
    # What PyTorch saves is what shoal reads.
    stems = [path[: -len(".safetensors")] for path in paths]
    bad += subprocess.run([program, "--same"] + stems).returncode
    for by, (found, name) in worst.items():
        print(f"{by}: at most {found:.1e} off ({name})")
    print(f"{len(paths)} exports, {bad} differ "
          f"(onnxruntime {onnxruntime.__version__}, PyTorch {torch.__version__})")
    return bad == 0 and len(paths) > 0


def main():
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.argv[1], folder], check=True)
        sys.exit(0 if compare(sys.argv[1], folder) else 1)


main()
