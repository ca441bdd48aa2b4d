// perpd - a client of the exchange perpd: clients/ts/README.md has what it does.

export { Account } from "./account.js";
export type { Held, PrivateEvent } from "./account.js";
export { addressOf, addressText } from "./address.js";
export type { AddressLike } from "./address.js";
export * from "./amount.js";
export * from "./body.js";
export * as binary from "./binary.js";
export { BinaryStream } from "./binary_stream.js";
export { Book, crc32c } from "./book.js";
export { Client, connect } from "./client.js";
export type { Options, Paging, Watching } from "./client.js";
export { Clock } from "./clock.js";
export * from "./errors.js";
export * from "./ids.js";
export * from "./json.js";
export { Market } from "./market.js";
export { MasterKey } from "./master.js";
export { openAccount } from "./opening.js";
export type { Opened, Opening } from "./opening.js";
export { Order } from "./order.js";
export type { Change, Direction, Replacement } from "./order.js";
export type { Outcome, Pending, Request, Waiting } from "./requests.js";
export * from "./sign.js";
export type { SocketClass } from "./socket.js";
export { Arm, Stream } from "./stream.js";
export type { Event, StreamOptions } from "./stream.js";
export type { LimitOptions, MarketOptions, Placement, Sending, TimeInForce, Trigger,
  TriggerOptions } from "./trading.js";
export { digestOf, typedDataOf } from "./typed_data.js";
export type { TypedData } from "./typed_data.js";
export type * as records from "./types.gen.js";
export type { Bbo, Mark, Trade } from "./views.js";
export * as wire from "./wire.gen.js";
