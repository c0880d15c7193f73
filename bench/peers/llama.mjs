/**
 * llama.cpp as a contestant: fills in FIM order, greedy, with its prefix cache.
 *
 *     node llama.mjs GGUF THREADS plain|lookup
 *
 * One JSON request a line, one JSON answer a line; run.py says what they hold.
 */
import { createInterface } from "node:readline";
import { getLlama, InputLookupTokenPredictor } from "node-llama-cpp";

const [path, threads, way] = process.argv.slice(2);
const began = performance.now();
const llama = await getLlama({
  gpu: false,
  build: "never",
  maxThreads: 0, // The context's own number of threads counts.
  logLevel: "error",
  progressLogs: "stderr",
});
const model = await llama.loadModel({ modelPath: path, gpuLayers: 0 });
const context = await model.createContext({ contextSize: 4096, threads: Number(threads) });
const tokenPredictor = way === "lookup" ? new InputLookupTokenPredictor() : undefined;
const sequence = context.getSequence({ tokenPredictor });
answer({ seconds: secondsSince(began) });

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  if (request.cold) await sequence.clearHistory();
  answer(await fill(request));
}

/** Write exactly `n_tokens` tokens, past an end token too, and tell the time. */
async function fill({ prefix, suffix, n_tokens }) {
  const start = performance.now();
  const prompt = fimPrompt(prefix, suffix);
  tokenPredictor?.updateInputTokens(prompt);
  // The last token is always computed: its output chooses the first new one.
  await sequence.adaptStateToTokens(prompt.slice(0, -1), false);
  const rest = prompt.slice(sequence.nextTokenIndex);
  let n_written = 0;
  for await (const _ of sequence.evaluate(rest, { temperature: 0, yieldEogToken: true }))
    if (++n_written >= n_tokens) break;
  return { seconds: secondsSince(start), n_prompt: prompt.length, n_tokens: n_written };
}

function fimPrompt(prefix, suffix) {
  const { infill } = model.tokens;
  return [
    infill.prefix,
    ...model.tokenize(prefix),
    infill.suffix,
    ...model.tokenize(suffix),
    infill.middle,
  ];
}

function secondsSince(start) {
  return (performance.now() - start) / 1000;
}

function answer(value) {
  process.stdout.write(JSON.stringify(value) + "\n");
}
