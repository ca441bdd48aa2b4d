/* The money of the exchange: the audit and the withdrawals, for who has the token of the admin listener. */
import { useState } from 'preact/hooks';
import { shownText } from './decimal';
import type { Metrics } from './metrics';
import { Card, MoneyChecks } from './operator_panes';
import type { Watch } from './watch';

function Token({ watch }: { watch: Watch }) {
  const [text, setText] = useState('');
  const give = () => {
    watch.token = text;
    setText('');
  };
  return (
    <div class="token">
      <label>The content of <code>admin.token</code> in the data directory opens the audit and the withdrawals. It stays in this page’s memory.
        <input id="token" type="password" autocomplete="off" spellcheck={false} value={text} onInput={(event) => setText(event.currentTarget.value)} onKeyDown={(event) => event.key === 'Enter' && give()} />
      </label>
      <button type="button" class="button" disabled={text.trim() === ''} onClick={give}>open</button>
    </div>
  );
}

const timeOf = (ns: any) => new Date(Number(BigInt(ns) / 1_000_000n)).toISOString().replace('T', ' ').slice(0, 19);

function Withdrawals({ watch, onChoose }: { watch: Watch; onChoose: (id: string) => void }) {
  const rows = watch.withdrawals;
  if (rows === null) return <p class="nothing" aria-busy="true">loading withdrawals …</p>;
  if (rows.length === 0) return <p class="nothing">no withdrawals</p>;
  return (
    <>
      <div class="scroll" tabIndex={0} role="group" aria-label="Withdrawals">
        <table>
          <caption class="visually-hidden">Withdrawals, newest first</caption>
          <thead><tr><th scope="col">Asked for, UTC</th><th scope="col">Account</th><th scope="col">USDC</th><th scope="col">Status</th><th scope="col"><span class="visually-hidden">Action</span></th><th scope="col">To</th></tr></thead>
          <tbody>{rows.map((one) => (
            <tr key={one.withdrawal_id}>
              <th scope="row" title={one.withdrawal_id}>{timeOf(one.requested_at_ns)}</th><td>{String(one.account_id)}</td><td>{shownText(one.amount)}</td><td>{one.status}</td>
              <td>{one.status === 'pending' && <button type="button" onClick={() => onChoose(one.withdrawal_id)}>act on it</button>}</td><td>{one.destination}</td>
            </tr>
          ))}</tbody>
        </table>
      </div>
      {watch.older !== null ? <p class="health-line"><button type="button" class="button" onClick={() => void watch.readOlder()}>older</button></p> : <p class="nothing">no older ones</p>}
    </>
  );
}

export function MoneyCard({ watch, now, onChoose }: { watch: Watch; now: Metrics; onChoose: (id: string) => void }) {
  return (
    <Card name="money" title="Money" tools={watch.hasToken && <button type="button" onClick={() => void watch.readSlow()}>audit now</button>}>
      <MoneyChecks watch={watch} now={now} />
      {watch.refusal !== null && <p class="health-line tone-bad" role="alert">{watch.refusal}</p>}
      {watch.hasToken ? <Withdrawals watch={watch} onChoose={onChoose} /> : <Token watch={watch} />}
    </Card>
  );
}
