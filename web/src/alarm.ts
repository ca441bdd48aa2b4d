/* What an operator must look at, in words, with what to do. */
import type { Ready } from './watch';
import type { Metrics } from './metrics';

/** An alarm that is raised: its key, what it says, what to do, and where operations.md has more. */
export type Alarm = { key: string; text: string; help: string; section?: string };

type Words = Omit<Alarm, 'key'>;

const SEGMENTS = { help: 'Make room on the disk; then give the markets their states back.', section: 'The disk fills up' };

/** By the names of perpd_alarm. */
export const ALARM_TEXT: Record<string, Words> = {
  invariant: { text: 'A money invariant has failed; markets are halted.', help: 'See Money below and the error line of the log. Open no market before the cause is known.' },
  segments: { text: 'Too few segments are prepared: markets take cancels alone.', ...SEGMENTS },
  segment_error: { text: 'The last segment could not be prepared.', ...SEGMENTS },
  snapshot: { text: 'No snapshot is made: the next start takes longer.', help: 'The warning or error line snapshot of the log has the cause; it is tried again by itself.', section: 'Starting and stopping' },
  snapshot_put_off: { text: 'A snapshot waits for memory.', help: 'Give the machine memory: a snapshot needs that of the state once more.', section: 'Starting and stopping' },
  follower_lag: { text: 'Reads are refused: the follower is behind.', help: 'Orders go on. Look at the load and at the CPU of the follower\u2019s thread.' },
  clock: { text: 'This machine\u2019s clock and perpd\u2019s differ by more than a second.', help: 'Look at the machine\u2019s time service.', section: 'The clock of a start was wrong' },
  clock_gap: { text: 'The clock of this start was far from the last known time: all markets are halted.', help: 'If the clock is right: perp admin clock confirm. Else set the clock.', section: 'The clock of a start was wrong' },
  archive: { text: 'Segments are not archived.', help: 'The error line archive of the log has the cause.', section: 'The disk fills up' },
  fund_deficit: { text: 'The insurance fund is below zero.', help: 'Add to it: perp fund top-up.' },
  short: { text: 'Fund and fees do not cover what is owed: profits wait.', help: 'Add to the fund: perp fund top-up.' },
  poison: { text: 'perpd has aborted on requests, and puts them off.', help: 'Keep the log and a copy of the data directory; then perp admin clear-poison.', section: 'A command that ends perpd' },
  history: { text: 'Rows of the past are not written, or were set aside.', help: 'perp history rebuild, once perpd is stopped.', section: 'The history was damaged' },
  scrub: { text: 'A stored file is damaged.', help: 'The error line scrub of the log names it. Replace the disk.', section: 'A stored file is damaged' },
  oracle_stale: { text: 'No index price has come for too long: orders are refused.', help: 'Look at the oracle.' },
};

/** Why perpd is not ready, by the reasons of /readyz. */
export const REASON_TEXT: Record<string, string> = {
  recovery: 'It is replaying its journal.',
  accepting: 'It takes no requests: it starts, stops, or does not lead.',
  clock: ALARM_TEXT.clock.text,
  follower_lag: ALARM_TEXT.follower_lag.text,
  segments: ALARM_TEXT.segments.text,
  invariant: ALARM_TEXT.invariant.text,
  clock_gap: ALARM_TEXT.clock_gap.text,
};

const CERTIFICATE_S = 14 * 86400;

/** The alarms that these readings raise. Every perpd_alarm that is 1 is among them, also one without words here. */
export function alarmsOf(metrics: Metrics | null, ready: Ready | null, silentSince: number | null): Alarm[] {
  const raised: Alarm[] = [];
  if (silentSince !== null)
    raised.push({ key: 'silent', text: `perpd has not answered since ${new Date(silentSince).toLocaleTimeString()}; what is below is from before.`, help: 'Look at the process and at its log.', section: 'Starting and stopping' });
  if (metrics === null) return raised;
  for (const { labels, text } of metrics.all('alarm')) {
    if (text === '0') continue;
    const words = ALARM_TEXT[labels.name] ?? { text: `Alarm ${labels.name}.`, help: 'The log has the cause.' };
    raised.push({ key: `${labels.name} ${labels.market ?? ''}`.trim(), ...words, text: labels.market === undefined ? words.text : `${labels.market}: ${words.text}` });
  }
  for (const { labels, text } of metrics.all('table_alarm'))
    if (text !== '0') raised.push({ key: `table ${labels.table}`, text: `The table of ${labels.table} is 70 % full.`, help: 'Start with a larger one, or give its share to others.', section: 'A table fills up' });
  if ([metrics.value('keys_shadow_differences_total'), metrics.value('net_second_differences_total')].some((one) => (one ?? 0) > 0))
    raised.push({ key: 'verifiers', text: 'Two verifiers of signatures differ.', help: 'The machine or perpd is at fault.', section: 'A verdict on a signature was wrong' });
  const left = metrics.value('tls_certificate_expires_seconds');
  if (left !== null && left < CERTIFICATE_S)
    raised.push({ key: 'certificate', text: `The certificate ends in ${Math.floor(left / 86400)} days.`, help: 'Renew it and send SIGHUP.', section: 'TLS' });
  for (const reason of ready?.reasons ?? [])
    if (metrics.text('alarm', { name: reason }) === null)
      raised.push({ key: `reason ${reason}`, text: REASON_TEXT[reason] ?? `Not ready: ${reason}.`, help: 'It takes no orders until that is over.' });
  return raised;
}
