/* The same order from two tabs: the second one asks. Tabs hold locks of the browser, which tell them of each other. */
import { BODY_AT, type Payload } from './payload';
import { hex } from './bytes';

const HELD_MS = 5000;

/** What this tab has sent within the last seconds. */
const own = new Set<string>();

/** Whether no other tab of this browser sends the same request now, or has sent it within the last five seconds. From then on, and for so
 *  long, other tabs hear false of it. Ids do not count: each tab makes its own. Nor may the time of day: who asks gives an order
 *  for a time as it would be sent at 0. */
export async function isSentHereAlone({ request, bytes }: Payload): Promise<boolean> {
  const name = `perpd ${request.code} ${hex(bytes.slice(BODY_AT))}`;
  if (own.has(name)) return true;
  return new Promise((resolve) => {
    void navigator.locks.request(name, { ifAvailable: true }, async (lock) => {
      resolve(lock !== null);
      if (lock === null) return;
      own.add(name);
      await new Promise((done) => setTimeout(done, HELD_MS));
      own.delete(name);
    });
  });
}
