"""Compiles Triton kernels for AMD GPUs into the code objects beside this file.

    pip install triton==3.9 && python make.py [DIR]

No GPU is needed. `index.json` lists what was made: the object, its target, the arguments, and the launch.
"""

import json
import pathlib
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

TARGETS = {
    "gfx908": 64,
    "gfx90a": 64,
    "gfx942": 64,
    "gfx950": 64,
    "gfx1100": 32,
    "gfx1150": 32,
    "gfx1201": 32,
    "gfx1250": 32,
}


@triton.jit
def softmax(out, x, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    values = tl.load(x + row * columns + at, mask=inside, other=-float("inf"))
    values = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * columns + at, values / tl.sum(values, axis=0), mask=inside)


@triton.jit
def layernorm(out, x, weight, bias, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    values = tl.load(x + row * columns + at, mask=inside, other=0.0)
    mean = tl.sum(values, axis=0) / columns
    centred = tl.where(inside, values - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / columns + eps)
    w = tl.load(weight + at, mask=inside)
    b = tl.load(bias + at, mask=inside)
    tl.store(out + row * columns + at, centred * scale * w + b, mask=inside)


@triton.jit
def matmul(out, a, b, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    sum = tl.zeros((BM, BN), dtype=out.dtype.element_ty)
    for start in range(0, k, BK):
        at = start + depth
        left = tl.load(a + rows[:, None] * k + at[None, :], mask=(rows[:, None] < m) & (at[None, :] < k), other=0.0)
        right = tl.load(b + at[:, None] * n + columns[None, :], mask=(at[:, None] < k) & (columns[None, :] < n), other=0.0)
        sum = tl.dot(left, right, sum, out_dtype=out.dtype.element_ty, input_precision="ieee")
    tl.store(out + rows[:, None] * n + columns[None, :], sum, mask=(rows[:, None] < m) & (columns[None, :] < n))


@triton.jit
def attention(out, q, k, v, length, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    head = tl.program_id(1) * length * D
    dims = tl.arange(0, D)
    query = tl.load(q + head + rows[:, None] * D + dims[None, :], mask=rows[:, None] < length, other=0.0)
    top = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    sum = tl.zeros((BM, D), tl.float32)
    for start in range(0, length, BN):
        at = start + tl.arange(0, BN)
        keys = tl.load(k + head + at[None, :] * D + dims[:, None], mask=at[None, :] < length, other=0.0)
        scores = tl.dot(query, keys) * scale
        scores = tl.where(at[None, :] < length, scores, -float("inf"))
        peak = tl.maximum(top, tl.max(scores, axis=1))
        weights = tl.exp(scores - peak[:, None])
        shrink = tl.exp(top - peak)
        total = total * shrink + tl.sum(weights, axis=1)
        values = tl.load(v + head + at[:, None] * D + dims[None, :], mask=at[:, None] < length, other=0.0)
        sum = sum * shrink[:, None] + tl.dot(weights.to(values.dtype), values)
        top = peak
    tl.store(out + head + rows[:, None] * D + dims[None, :], sum / total[:, None], mask=rows[:, None] < length)


def fp8(target):
    return "fp8e4b8" if target == "gfx942" else "fp8e4nv"


def kernels(target):
    f = "*fp32"
    yield "softmax", softmax, dict(out=f, x=f, columns="i32"), dict(BLOCK=256)
    yield "layernorm", layernorm, dict(out=f, x=f, weight=f, bias=f, columns="i32", eps="fp32"), dict(BLOCK=256)
    block = dict(BM=32, BN=32, BK=32)
    types = [("f32", "fp32", f), ("f16", "fp16", f), ("bf16", "bf16", f), ("i8", "i8", "*i32")]
    if target in ("gfx942", "gfx950", "gfx1201", "gfx1250"):
        types += [("fp8", fp8(target), f)]
    for name, element, result in types:
        sizes = block if name != "i8" and name != "fp8" else dict(block, BK=64)
        yield f"matmul_{name}", matmul, dict(out=result, a=f"*{element}", b=f"*{element}", m="i32", n="i32", k="i32"), sizes
    h = "*fp16"
    signature = dict(out=f, q=h, k=h, v=h, length="i32", scale="fp32")
    yield "attention", attention, signature, dict(BM=32, BN=32, D=32)


def main():
    into = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    index = []
    for target, lanes in TARGETS.items():
        for name, function, signature, constants in kernels(target):
            types = dict(signature, **{constant: "constexpr" for constant in constants})
            source = ASTSource(function, types, constexprs=constants)
            try:
                made = triton.compile(source, target=GPUTarget("hip", target, lanes), options={"num_warps": 4 if lanes == 64 else 4})
            except Exception as error:
                print(f"{target} {name}: {error}", file=sys.stderr)
                continue
            path = f"{name}.{target}.hsaco"
            (into / path).write_bytes(made.asm["hsaco"])
            index.append(dict(object=path, target=target, kernel=made.metadata.name, group=made.metadata.num_warps * lanes,
                              lds=made.metadata.shared, arguments=list(signature.values()), constants=constants))
    (into / "index.json").write_text("".join(["[\n", ",\n".join(json.dumps(entry) for entry in index), "\n]\n"]))


main()
