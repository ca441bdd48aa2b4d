// perpd - a client of the exchange perpd: clients/ts/README.md has what it does.

export * from "./amount.js";
export * from "./body.js";
export * from "./ids.js";
export * from "./json.js";
export * from "./sign.js";
export type * as records from "./types.gen.js";
export * as wire from "./wire.gen.js";
