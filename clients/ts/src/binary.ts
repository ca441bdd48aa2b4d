// Reads what a stream of the subprotocol perps.bin.v1 sends (wire.md W9). Members have the names of its
// table and raw numbers: prices and sizes of the market, amounts in micro-USDC, enums as wire.md W3.

import { PerpdError } from "./errors.js";
import { idText } from "./ids.js";

export const SUBPROTOCOL = "perps.bin.v1";
/** An index of a transfer: outside of the exchange. */
export const NOWHERE = 0xffff_ffff;
/** frozen_until_ns of a protection that somebody must reset. */
export const UNTIL_RESET = 2n ** 64n - 1n;

const CHANNELS = ["book", "trades", "bbo", "private"] as const;
const TYPES = ["snapshot", "update", "heartbeat", "gap"] as const;
const [HEAD_BYTES, FRAME_BYTES, ACK_BYTES] = [24, 48, 88];
const [FRAME, ACK] = [16, 6];
const ID_BYTES = 16;
const HAS_CRC = 1;

/** Bytes that are no message of this subprotocol. */
export class Malformed extends PerpdError {}

/** Reads one value after the other. Its maker has looked at the length. */
class Cursor {
  readonly #view: DataView;

  constructor(private readonly bytes: Uint8Array, private at: number) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  #step(size: number): number {
    this.at += size;
    return this.at - size;
  }

  skip(size: number): void {
    this.#step(size);
  }

  u8(): number {
    return this.#view.getUint8(this.#step(1));
  }

  u16(): number {
    return this.#view.getUint16(this.#step(2), true);
  }

  u32(): number {
    return this.#view.getUint32(this.#step(4), true);
  }

  u64(): bigint {
    return this.#view.getBigUint64(this.#step(8), true);
  }

  i64(): bigint {
    return this.#view.getBigInt64(this.#step(8), true);
  }

  i128(): bigint {
    const low = this.u64();
    return (this.i64() << 64n) | low;
  }

  take(size: number): Uint8Array {
    const at = this.#step(size);
    return this.bytes.slice(at, at + size);
  }

  id(): string {
    return idText(this.take(ID_BYTES));
  }

  /** null: all its bytes are zero. */
  idOrNull(): string | null {
    const bytes = this.take(ID_BYTES);
    return bytes.some((byte) => byte !== 0) ? idText(bytes) : null;
  }
}

/** What each message begins with; `market` is an asset id, 0: none. */
export interface Head {
  readonly template: number;
  readonly market: number;
  readonly flags: number;
  readonly seq: bigint;
  readonly time_ns: bigint;
}

// Template: the bytes of a message, and what stands behind its head.
const LAYOUTS = {
  /** A level; size 0: it is gone; side 1: an ask. */
  1: [48, (at: Cursor) => ({ price: at.u64(), size: at.u64(), side: at.u8() })],
  /** A trade; flags 1: a liquidation. */
  2: [56, (at: Cursor) => {
    const shown = { price: at.u64(), size: at.u64(), taker_side: at.u8(), flags: at.u8() };
    at.skip(6);
    return { ...shown, trade_seq: at.u64() };
  }],
  /** The best prices; a side that is empty has price and size 0. */
  3: [56, (at: Cursor) => ({ bid_price: at.u64(), bid_size: at.u64(), ask_price: at.u64(),
    ask_size: at.u64() })],
  /** An order; price 0: its kind has none. */
  4: [72, (at: Cursor) => ({ order_id: at.id(), remaining: at.u64(), filled: at.u64(),
    price: at.u64(), status: at.u8(), reason: at.u8(), side: at.u8() })],
  /** A fill; liquidity 0 TAKER, 1 MAKER. */
  5: [88, (at: Cursor) => ({ fill_id: at.id(), order_id: at.id(), price: at.u64(),
    size: at.u64(), fee: at.i64(), liquidity: at.u8(), side: at.u8() })],
  /** What a resume could not bring. */
  17: [40, (at: Cursor) => ({ from_seq: at.u64(), oldest_seq: at.u64() })],
  /** A position; id null: closed. The average entry price is cost / size. */
  18: [72, (at: Cursor) => ({ id: at.idOrNull(), size: at.i64(), cost: at.i64(),
    net_funding: at.i64(), subaccount_index: at.u32(), portfolio_index: at.u32() })],
  /** A row of the cash ledger. */
  19: [72, (at: Cursor) => ({ ref_id: at.idOrNull(), amount: at.i64(), balance_after: at.i64(),
    subaccount_index: at.u32(), portfolio_index: at.u32(), index: at.u32(), kind: at.u8() })],
  /** A funding payment. */
  20: [96, (at: Cursor) => ({ id: at.id(), payment: at.i64(), size: at.i64(), rate_ppb: at.i64(),
    index_price: at.u64(), hour_ns: at.u64(), subaccount_index: at.u32(),
    portfolio_index: at.u32(), index: at.u32() })],
  /** Cash that moves; withdrawal_id null: it is no withdrawal. */
  21: [72, (at: Cursor) => ({ withdrawal_id: at.idOrNull(), amount: at.i64(),
    from_subaccount_index: at.u32(), from_portfolio_index: at.u32(),
    to_subaccount_index: at.u32(), to_portfolio_index: at.u32(), kind: at.u8() })],
  /** A liquidation; without a market the status alone changes, and price, size and level are 0. */
  22: [88, (at: Cursor) => ({ equity: at.i128(), maintenance_margin: at.i128(), price: at.u64(),
    size: at.i64(), subaccount_index: at.u32(), portfolio_index: at.u32(), status: at.u8(),
    level: at.u8() })],
  /** A protection of a market maker; 0: not frozen. */
  23: [40, (at: Cursor) => ({ frozen_until_ns: at.u64(), subaccount_index: at.u32(),
    portfolio_index: at.u32() })],
  /** A key; id null: a master key. A session's public key has 32 bytes and a zero. */
  24: [80, (at: Cursor) => ({ id: at.idOrNull(), public_key: at.take(33), kind: at.u8(),
    action: at.u8() })],
} as const;

type Layouts = typeof LAYOUTS;
type Kinds = { readonly [Of in keyof Layouts]:
  Omit<Head, "template"> & { readonly template: Of } & Readonly<ReturnType<Layouts[Of][1]>> };

export type Level = Kinds[1];
export type TradeMessage = Kinds[2];
export type Best = Kinds[3];
/** A message of a template that this reader does not know: newer than it. */
export interface Unknown {
  readonly template: number;
}
/** A message of a frame's data: `template` says which. */
export type Data = Kinds[keyof Kinds];

/** A frame of json.md J9; `market` is an asset id, 0 of private. */
export interface BinaryFrame {
  readonly channel: (typeof CHANNELS)[number];
  readonly type: (typeof TYPES)[number];
  readonly market: number;
  readonly seq: bigint;
  readonly prev_seq: bigint;
  readonly engine_seq: bigint;
  readonly time_ns: bigint;
  readonly crc: number | null;
  readonly data: readonly (Data | Unknown)[];
}

/** The answer to a signed request that was sent as a binary message (wire.md W5). */
export interface Ack {
  readonly status: number;
  /** 255: none. */
  readonly order_status: number;
  readonly version: number;
  readonly processed_at_ns: bigint;
  /** 0: it was refused before it had one. */
  readonly sequence: bigint;
  readonly request_id: string;
  readonly remaining: bigint;
  readonly quantity_ahead: bigint;
  readonly verify_ns: number;
  readonly match_ns: number;
}

/** The head there, its message's length, and a cursor behind it. */
function begin(bytes: Uint8Array, from: number): [Head, length: number, Cursor] {
  if (bytes.length - from < HEAD_BYTES) {
    throw new Malformed(`${bytes.length - from} bytes are no head`);
  }
  const at = new Cursor(bytes, from);
  const [template, length] = [at.u16(), at.u16()];
  const head = { template, market: at.u16(), flags: at.u16(), seq: at.u64(), time_ns: at.u64() };
  if (length < HEAD_BYTES || length % 8 !== 0 || from + length > bytes.length) {
    throw new Malformed(`a length of ${length} at ${from} of ${bytes.length}`);
  }
  return [head, length, at];
}

/** What a newer exchange has put behind the members is passed over. */
function need(head: Head, length: number, least: number): void {
  if (length < least) throw new Malformed(`template ${head.template} has ${length} bytes`);
}

function readAck(at: Cursor): Ack {
  const shown = { status: at.u16(), order_status: at.u8(), version: at.u8() };
  at.skip(4);
  return { ...shown, processed_at_ns: at.u64(), sequence: at.u64(), request_id: at.id(),
    remaining: at.u64(), quantity_ahead: at.u64(), verify_ns: at.u32(), match_ns: at.u32() };
}

function readData(bytes: Uint8Array, from: number): [Data | Unknown, length: number] {
  const [head, length, at] = begin(bytes, from);
  if (!Object.hasOwn(LAYOUTS, head.template)) return [{ template: head.template }, length];
  const [least, read] = LAYOUTS[head.template as keyof Layouts];
  need(head, length, least);
  return [{ ...head, ...read(at) } as Data, length];
}

/** One binary message of the WebSocket, whole. Malformed: it is none of this subprotocol. */
export function readMessage(bytes: Uint8Array): BinaryFrame | Ack {
  const [head, length, at] = begin(bytes, 0);
  if (head.template === ACK) {
    need(head, length, ACK_BYTES);
    return readAck(at);
  }
  if (head.template !== FRAME) throw new Malformed(`it begins with template ${head.template}`);
  need(head, length, FRAME_BYTES);
  const [prev, engine] = [at.u64(), at.u64()];
  const [channel, type] = [CHANNELS[at.u8() - 1], TYPES[at.u8() - 1]];
  at.skip(2);
  const crc = at.u32();
  if (channel === undefined || type === undefined) {
    throw new Malformed("an unknown channel or type");
  }
  const data: (Data | Unknown)[] = [];
  for (let from = length; from < bytes.length;) {
    const [one, taken] = readData(bytes, from);
    data.push(one);
    from += taken;
  }
  return { channel, type, market: head.market, seq: head.seq, prev_seq: prev, engine_seq: engine,
    time_ns: head.time_ns, crc: (head.flags & HAS_CRC) !== 0 ? crc : null, data };
}
