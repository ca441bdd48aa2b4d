/* The server's clock: its difference to this machine's, from the answers with the shortest round trips. */

const SAMPLES_MAX = 20;
const BEST = 5;

type Sample = { offset: number; roundTrip: number };

const samples: Sample[] = [];

/** Takes in that an answer of server time `serverNs` was asked for and came at these times of
 *  `performance.now()`. */
export function clockSample(serverNs: string | null, sent: number, received: number): void {
  if (serverNs === null || !/^\d+$/.test(serverNs)) return;
  const server = Number(BigInt(serverNs) / 1000n) / 1000;
  const middle = performance.timeOrigin + (sent + received) / 2;
  samples.push({ offset: server - middle, roundTrip: received - sent });
  if (samples.length > SAMPLES_MAX) samples.shift();
}

/** Milliseconds to add to this machine's clock, and how far they may be off. */
export function clockOffset(): { offset: number; error: number } | null {
  if (samples.length === 0) return null;
  const best = [...samples].sort((a, b) => a.roundTrip - b.roundTrip).slice(0, BEST);
  best.sort((a, b) => a.offset - b.offset);
  const middle = best[best.length >> 1];
  return { offset: middle.offset, error: middle.roundTrip / 2 };
}

/** Unix milliseconds of the server. */
export function serverNow(): number {
  return performance.timeOrigin + performance.now() + (clockOffset()?.offset ?? 0);
}
