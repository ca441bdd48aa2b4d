// latency.js URL KEY_FILE API_KEY_FILE COUNT - places and cancels far from the market, and prints the
// median of each stage in microseconds, as acknowledgements tell it, and of the round trip.
import process from "node:process";
import { connect } from "perpd";
import { readKey, readSecret } from "perpd/node";
import { WebSocket } from "ws"; // Node 22 has its own

const [url = "", key = "", apiKey = "", count = ""] = process.argv.slice(2);
const ex = await connect(url, { key: await readKey(key), apiKey: await readSecret(apiKey), WebSocket });
const market = await ex.market("BTC-PERP");
const price = market.roundPrice((await ex.mark(market)).price.timesBps(-500n), "down");
const stages = new Map<string, number[]>();
const add = (stage: string, us: number): void => {
  stages.set(stage, [...stages.get(stage) ?? [], us]);
};
for (let turn = 0; turn < Number(count); turn += 1) {
  const begun = performance.now();
  const order = await ex.place(market, "buy", "0.01", price, { postOnly: true });
  add("round trip", (performance.now() - begun) * 1000);
  for (const [stage, ns] of Object.entries(order.outcome?.answer["timing_ns"] ?? {})) {
    add(stage, Number(ns) / 1000);
  }
  await order.cancel();
}
for (const [stage, values] of stages) {
  const median = values.sort((a, b) => a - b)[values.length >> 1] ?? 0;
  console.log(`${stage.padEnd(12)} ${median.toFixed(1).padStart(10)}`);
}
ex.close();
