// What a browser has and an older Node lacks, as far as jax-js needs it. Above all Worker: with it jax-js's WASM
// back end runs on as many threads as the other peers, without it on one.
import { resolveObjectURL } from "node:buffer";
import { Worker as NodeWorker } from "node:worker_threads";

const prologue = `
  const { parentPort } = require("node:worker_threads");
  globalThis.self = globalThis;
  globalThis.postMessage = (message) => parentPort.postMessage(message);
  parentPort.on("message", (data) => globalThis.onmessage({ data }));
`;

class Worker {
  // The source sits behind a blob: URL, which is read asynchronously: messages wait for it.
  constructor(url) {
    this.started = resolveObjectURL(String(url))
      .text()
      .then((source) => {
        this.thread = new NodeWorker(prologue + source, { eval: true });
        this.thread.on("message", (data) => this.onmessage?.({ data }));
        this.thread.on("error", (error) => this.onerror?.(error));
        this.thread.unref();
      });
  }
  postMessage(message) {
    if (this.thread) this.thread.postMessage(message);
    else this.started.then(() => this.thread.postMessage(message));
  }
}

export function provideBrowser(threads) {
  globalThis.Worker = Worker;
  const navigator = { hardwareConcurrency: threads };
  Object.defineProperty(globalThis, "navigator", { value: navigator, configurable: true });
  globalThis.Float16Array ??= class Float16Array {}; // only ever asked for with instanceof
  const iterator = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()));
  iterator.map ??= function* (f) {
    for (const item of this) yield f(item);
  };
  iterator.filter ??= function* (keep) {
    for (const item of this) if (keep(item)) yield item;
  };
}
