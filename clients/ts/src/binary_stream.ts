// A Stream whose frames are those of the subprotocol perps.bin.v1 (wire.md W9). What it has, it has as
// Stream: it comes back by itself, subscribes again, and checks the order of frames; the same sinks take
// the same frames.

import { Amount } from "./amount.js";
import { readMessage, SUBPROTOCOL } from "./binary.js";
import type { Best, BinaryFrame, Level, TradeMessage } from "./binary.js";
import { Lost } from "./errors.js";
import { eventOf, SIDES } from "./binary_private.js";
import type { Market } from "./market.js";
import type { Session } from "./session.js";
import type { Sink } from "./sinks.js";
import { Socket } from "./socket.js";
import type { SocketClass } from "./socket.js";
import { PRIVATE, Stream } from "./stream.js";
import type { StreamOptions, Subscription } from "./stream.js";

type Members = Readonly<Record<string, unknown>>;

/** `session` has the markets and their decimals. Channels without binary messages are a RangeError. */
export class BinaryStream extends Stream {
  readonly #byAsset = new Map<number, Market>();
  readonly #asked = new Set<number>(); // assets that the list lacked when an event named them
  #isBehind = false;

  constructor(address: string | readonly string[], options: StreamOptions,
    private readonly session: Pick<Session, "markets" | "loadMarkets">) {
    super(address, options);
  }

  override subscribe(channel: string, market: string, make: () => Sink, depth?: number,
    caughtUp?: () => void): Subscription {
    if (channel === PRIVATE) return super.subscribe(channel, market, make, depth, caughtUp);
    if (!Object.hasOwn(DATA, channel)) {
      throw new RangeError(`${SUBPROTOCOL} is for ${Object.keys(DATA).join(", ")}: connect ` +
        `without { binary: true } for ${channel}`);
    }
    const found = this.session.markets.get(market);
    if (found === undefined) throw new RangeError(`no market ${JSON.stringify(market)}`);
    this.#byAsset.set(found.assetId, found);
    return super.subscribe(channel, market, make, depth, caughtUp);
  }

  /** An event may be of a market that is newer than the list, which is read again then. */
  protected override async open(kind: SocketClass, timeoutMs: number): Promise<Socket> {
    if (this.#isBehind) await this.session.loadMarkets();
    this.#isBehind = false;
    return Socket.open(kind, this.address, timeoutMs, SUBPROTOCOL);
  }

  protected override read(message: string | Uint8Array): Members {
    if (typeof message === "string") return super.read(message);
    const frame = readMessage(message);
    if ("request_id" in frame) throw new Lost("an acknowledgement of what nobody sent", true);
    return this.#frame(frame);
  }

  #frame(frame: BinaryFrame): Members {
    const market = this.#byAsset.get(frame.market);
    const { channel, type, crc } = frame;
    const hasData = market !== undefined && (type === "snapshot" || type === "update");
    return { channel, type, market: market?.name ?? "", seq: frame.seq, prev_seq: frame.prev_seq,
      engine_seq: frame.engine_seq, time_ns: frame.time_ns, ...(crc !== null && { crc }),
      data: channel === PRIVATE ? this.#event(frame)
        : hasData ? DATA[channel](market, frame) : {} };
  }

  #event(frame: BinaryFrame): Members {
    if (frame.type !== "update") return {};
    const [one, ...more] = frame.data.filter((each) => "seq" in each);
    if (one === undefined || more.length > 0) throw new Lost("an update that is not one event", true);
    const market = [...this.session.markets.values()].find(({ assetId }) => assetId === one.market);
    if (market === undefined && one.market !== 0 && !this.#asked.has(one.market)) {
      this.#asked.add(one.market);
      this.#isBehind = true;
      throw new Lost(`an event of asset ${one.market}, which is not known yet`, true);
    }
    return eventOf(one, market);
  }
}

/** The data of a frame that is of this template alone; templates that are newer are passed over. */
function only<Message extends { readonly template: number }>(template: number,
  frame: BinaryFrame): readonly Message[] {
  const known = frame.data.filter((one) => "seq" in one);
  if (known.some((one) => one.template !== template)) {
    throw new Lost(`data of ${frame.channel} that is not of template ${template}`, true);
  }
  return known as readonly unknown[] as readonly Message[];
}

/** Levels as raw numbers, which Book takes as they are. */
function book(_market: Market, frame: BinaryFrame): Members {
  const levels = only<Level>(1, frame);
  const of = (side: number): (readonly [bigint, bigint])[] =>
    levels.filter((one) => one.side === side).map(({ price, size }) => [price, size] as const);
  return { bids: of(0), asks: of(1) };
}

function bbo(market: Market, frame: BinaryFrame): Members {
  const [best] = only<Best>(3, frame);
  if (best === undefined) throw new Lost("a frame of bbo without prices", true);
  const text = (raw: bigint, size: bigint, decimals: number): string | null =>
    size === 0n ? null : new Amount(raw, decimals).toString();
  return { bid_price: text(best.bid_price, best.bid_size, market.priceDecimals),
    bid_size: text(best.bid_size, best.bid_size, market.sizeDecimals),
    ask_price: text(best.ask_price, best.ask_size, market.priceDecimals),
    ask_size: text(best.ask_size, best.ask_size, market.sizeDecimals) };
}

/** One trade, or those of a snapshot, whose sequences W9 does not send. */
function trades(market: Market, frame: BinaryFrame): Members {
  const shown = only<TradeMessage>(2, frame).map((one) => ({
    price: new Amount(one.price, market.priceDecimals).toString(),
    size: new Amount(one.size, market.sizeDecimals).toString(),
    taker_side: SIDES[one.taker_side], liquidation: (one.flags & 1) === 1,
    trade_seq: one.trade_seq, time_ns: one.time_ns,
    sequence: frame.type === "update" ? frame.engine_seq : null }));
  if (frame.type === "snapshot") return { trades: shown };
  const [trade] = shown;
  if (trade === undefined) throw new Lost("an update of trades without a trade", true);
  return trade;
}

const DATA = { book, bbo, trades };
