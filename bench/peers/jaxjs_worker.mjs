// jax-js on its WASM back end in Node. Arguments: the folder that holds node_modules.
import { readFileSync } from "node:fs";
import path from "node:path";
import { performance } from "node:perf_hooks";
import readline from "node:readline";
import { pathToFileURL } from "node:url";

import { provideBrowser } from "./browser_shim.mjs";

provideBrowser(Number(process.env.OMP_NUM_THREADS ?? 2));
const folder = path.resolve(process.argv[2], "node_modules/@jax-js/jax");
const jax = await import(pathToFileURL(path.join(folder, "dist/index.js")));
const { numpy: np, nn, lax, jit, vjp, valueAndGrad, tree } = jax;
await jax.init("wasm");
jax.defaultDevice("wasm");

// The same inputs as every other peer: a hash of the position, uniform in [-1, 1).
function hash(position, seed) {
  let h = (Math.imul(position, 0x9e3779b1) + Math.imul(seed, 0x85ebca77)) | 0;
  h = Math.imul(h ^ (h >>> 16), 0x7feb352d);
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b);
  return (h ^ (h >>> 16)) >>> 0;
}
const count = (shape) => shape.reduce((a, b) => a * b, 1);
function uniform(shape, seed, { dtype = "f32", scale = 1 } = {}) {
  const values = new (dtype === "f64" ? Float64Array : Float32Array)(count(shape));
  for (let i = 0; i < values.length; i++) values[i] = ((hash(i, seed) >>> 8) * 2 ** -23 - 1) * scale;
  return np.array(values, { shape, dtype: dtype === "f64" ? np.float64 : np.float32 });
}
function indices(shape, seed, bound) {
  const values = Int32Array.from({ length: count(shape) }, (_, i) => hash(i, seed) % bound);
  return np.array(values, { shape, dtype: np.int32 });
}
const vector = (p, seed = 1) => uniform([p.n], seed);
const matrix = (p, seed = 1) => uniform([p.rows, p.columns], seed);
const square = (p, seed, ...leading) => uniform([...leading, p.n, p.n], seed, p);

// jax-js moves its arguments: `.ref` wherever a value is used again.
const softmax = (x) => nn.softmax(x, -1);
function layerNorm(x, scale, offset) {
  const mean = np.mean(x.ref, -1, { keepdims: true });
  const variance = np.var_(x.ref, -1, { keepdims: true });
  return x.sub(mean).div(np.sqrt(variance.add(1e-5))).mul(scale).add(offset);
}
const convolution = (x, kernel) => lax.convGeneralDilated(x, kernel, [1, 1], [[1, 1], [1, 1]]);
function pullback(f, inputs, cotangent) {
  const [value, back] = vjp(f, inputs);
  value.dispose();
  return back(cotangent);
}
function attention(x, projectQkv, projectOut, heads) {
  const [batch, tokens, width] = x.shape;
  const [q, k, v] = np
    .matmul(x.ref, projectQkv)
    .reshape([batch, tokens, 3, heads, width / heads])
    .transpose([2, 0, 1, 3, 4]);
  const mixed = nn.dotProductAttention(q, k, v, { isCausal: true });
  return x.add(np.matmul(mixed.reshape([batch, tokens, width]), projectOut));
}
function crossEntropy(network, x, labels) {
  network.forEach(([weight, bias], i) => {
    x = np.matmul(x, weight).add(bias);
    if (i + 1 < network.length) x = nn.relu(x);
  });
  const classes = x.shape[1];
  return np.mean(np.sum(nn.oneHot(labels, classes).mul(nn.logSoftmax(x, -1)), -1)).neg();
}
function trainingStep(network, x, labels) {
  const [loss, gradient] = valueAndGrad(crossEntropy)(tree.ref(network), x, labels);
  return [loss, tree.map((p, g) => p.sub(g.mul(0.1)), network, gradient)];
}

// kind -> parameters -> [function, arguments]
const kinds = {
  jit_call: (p) => [(x) => x.add(1), [vector(p)]],
  eager_op: (p) => [(x) => x.add(1), [vector(p)]],
  elementwise_chain: (p) => [
    (x) => np.tanh(x.ref.mul(1.5).add(0.25)).mul(x.ref).add(np.exp(x.ref.mul(x).neg())),
    [vector(p)],
  ],
  elementwise_cheap: (p) => [(x) => np.maximum(x.ref.mul(2).add(1), 0.5).sub(x), [vector(p)]],
  axpy: (p) => [(x, y) => x.mul(1.5).add(y), [vector(p), vector(p, 2)]],
  sum: (p) => [(x) => np.sum(x), [vector(p)]],
  sum_axis: (p) => [(x) => np.sum(x, p.axis), [matrix(p)]],
  mean_var: (p) => [(x) => [np.mean(x.ref), np.var_(x)], [vector(p)]],
  mean_var_rows: (p) => [(x) => [np.mean(x.ref, 1), np.var_(x, 1)], [matrix(p)]],
  logsumexp: (p) => [(x) => nn.logsumexp(x, 1), [matrix(p)]],
  softmax: (p) => [softmax, [matrix(p)]],
  softmax_grad: (p) => [(x, cotangent) => pullback(softmax, [x], cotangent), [matrix(p), matrix(p, 2)]],
  layer_norm: (p) => [layerNorm, [matrix(p), uniform([p.columns], 2), uniform([p.columns], 3)]],
  layer_norm_grad: (p) => [
    (x, scale, offset, cotangent) => pullback(layerNorm, [x, scale, offset], cotangent),
    [matrix(p), uniform([p.columns], 2), uniform([p.columns], 3), matrix(p, 4)],
  ],
  // Adding nothing makes it write the result: on its own a transpose is only a view.
  transpose: (p) => [(x) => np.transpose(x).add(0), [matrix(p)]],
  cumsum: (p) => [(x) => np.cumsum(x), [vector(p)]],
  sort: (p) => [(x) => np.sort(x), [vector(p)]],
  gather: (p) => [(table, rows) => np.take(table, rows, 0), [matrix(p), indices([p.indices], 2, p.rows)]],
  gemm: (p) => [(a, b) => np.matmul(a, b), [square(p, 1), square(p, 2)]],
  gemv: (p) => [(a, x) => np.matmul(a, x), [square(p, 1), vector(p, 2)]],
  small_gemm: (p) => [
    (a, x) => {
      for (let i = 0; i < p.products; i++) x = np.matmul(a.ref, x);
      a.dispose();
      return x;
    },
    [1, 2].map((seed) => uniform([p.n, p.n], seed, { ...p, scale: Math.sqrt(3 / p.n) })),
  ],
  batched_gemm: (p) => [(a, b) => np.matmul(a, b), [square(p, 1, p.batch), square(p, 2, p.batch)]],
  conv2d: (p) => [convolution, [image(p, 1), kernel(p)]],
  conv2d_grad: (p) => [
    (x, k, cotangent) => pullback(convolution, [x, k], cotangent),
    [image(p, 1), kernel(p), image(p, 3)],
  ],
  attention: (p) => {
    const scale = p.width ** -0.5;
    return [
      (x, qkv, out) => attention(x, qkv, out, p.heads),
      [
        uniform([p.batch, p.tokens, p.width], 1),
        uniform([p.width, 3 * p.width], 2, { scale }),
        uniform([p.width, p.width], 3, { scale }),
      ],
    ];
  },
  mlp_step: (p) => {
    const layers = p.layers.slice(1).map((width, i) => [
      uniform([p.layers[i], width], 10 + i, { scale: p.layers[i] ** -0.5 }),
      np.zeros([width]),
    ]);
    return [trainingStep, [layers, uniform([p.batch, p.layers[0]], 1), indices([p.batch], 2, p.layers.at(-1))]];
  },
  cholesky: (p) => {
    const factor = square(p, 1, p.batch);
    const positive = np.matmul(factor.ref, np.transpose(factor, [0, 2, 1])).add(np.eye(p.n).mul(4));
    return [(a) => np.linalg.cholesky(a), [positive]];
  },
};
const image = (p, seed) => uniform([p.batch, p.channels, p.size, p.size], seed);
const kernel = (p) => uniform([p.channels, p.channels, 3, 3], 2, { scale: 0.125 });

class Case {
  constructor(p) {
    const [f, inputs] = kinds[p.kind](p);
    this.inputs = inputs;
    this.f = p.kind === "eager_op" ? f : jit(f);
    this.overhead = p.overhead;
  }
  call() {
    return this.f(...tree.ref(this.inputs));
  }
  async run(calls) {
    for (let i = 0; i < calls; i++) {
      const result = this.call();
      if (!this.overhead || i + 1 === calls) await jax.blockUntilReady(result);
      tree.dispose(result);
    }
  }
  async seconds(calls) {
    const start = performance.now();
    await this.run(calls);
    return (performance.now() - start) / 1e3;
  }
  // Compiles, warms up, and gives the cost of a warm call.
  async estimate() {
    const first = await this.seconds(1);
    if (first > 1) return first; // then what it compiled does not matter for an estimate
    for (let calls = 1; ; calls *= 4) {
      const seconds = await this.seconds(calls);
      if (seconds > 1e-3) return seconds / calls;
    }
  }
  async check() {
    const numbers = [];
    for (const leaf of tree.leaves(this.call())) {
      const values = await leaf.data();
      numbers.push(values.reduce((a, b) => a + b, 0) / values.length, values[Math.floor(values.length / 3)]);
    }
    return numbers;
  }
  release() {
    tree.dispose(this.inputs);
    this.f.dispose?.();
  }
}

let current = null;
let expected = 0;
const handlers = {
  hello: () => ({
    versions: {
      "jax-js": JSON.parse(readFileSync(path.join(folder, "package.json"))).version,
      node: process.version,
    },
  }),
  async setup({ workload }) {
    if (!(workload.kind in kinds)) return { missing: "no function of this kind" };
    current = new Case(workload);
    expected = await current.estimate();
    return { seconds: expected, check: await current.check() };
  },
  async time({ seconds }) {
    const calls = Math.max(1, Math.floor(seconds / expected));
    const perCall = (await current.seconds(calls)) / calls;
    expected = Math.min(expected, perCall);
    return { seconds: perCall, calls };
  },
  compile: () => ({}),
  memory: () => ({}),
  release() {
    current?.release();
    current = null;
    return {};
  },
};

for await (const line of readline.createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  let reply;
  try {
    reply = await handlers[request.do](request);
  } catch (error) {
    reply = { error: String(error).split("\n")[0] };
  }
  process.stdout.write(JSON.stringify(reply) + "\n");
}
process.exit(0);
