// histogram.mjs LOG - reads a histogram log with hdr-histogram-js and prints, for each tag, the count
// and percentiles of its intervals together, as one JSON object.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const require = createRequire(process.env.PERPD_PACKAGES + "/");
const hdr = require("hdr-histogram-js");

const reader = new hdr.HistogramLogReader(readFileSync(process.argv[2], "utf8"));
const sums = {};
for (let one = reader.nextIntervalHistogram(); one != null; one = reader.nextIntervalHistogram()) {
  sums[one.tag] ??= hdr.build({ highestTrackableValue: 3600000000000, numberOfSignificantValueDigits: 3 });
  sums[one.tag].add(one);
}
console.log(JSON.stringify(Object.fromEntries(Object.entries(sums).map(([tag, sum]) => [tag, {
  count: sum.totalCount, max: sum.maxValue,
  p50: sum.getValueAtPercentile(50), p99: sum.getValueAtPercentile(99) }]))));
