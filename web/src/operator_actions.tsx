/* What an operator wants to do, as the command that does it. */
import { ByteTable } from './byte_table';
import { Copy } from './copy';
import type { Metrics } from './metrics';
import { Card } from './operator_panes';
import { ACTIONS, type Action, type ActionName, STATES, compose } from './operator_action';

export const FIRST_ACTION: Action = {
  name: 'market_state', market: '', state: 'HALTED', withdrawal: '', outcome: 'settle', account: '', isSuspended: true, whose: '', order: '',
  keyFile: 'operator.key', url: `http://${location.hostname}:8080`, isForced: false,
};

export function ActionCard({ now, action, onChange }: { now: Metrics; action: Action; onChange: (change: Partial<Action>) => void }) {
  const markets = now.all('market_state').map(({ labels }) => ({ market: labels.market, asset: BigInt(labels.asset) }));
  const composed = compose(action, markets);
  const has = (...names: ActionName[]) => names.includes(action.name);
  const field = (name: 'withdrawal' | 'account' | 'whose' | 'order' | 'keyFile' | 'url', label: string) => (
    <label class="field" key={name}><span>{label}</span><input id={`action-${name}`} value={action[name]} autocomplete="off" spellcheck={false} onInput={(event) => onChange({ [name]: event.currentTarget.value.trim() })} /></label>
  );
  const choice = (name: 'name' | 'state' | 'market' | 'outcome', label: string, options: readonly (readonly [string, string])[]) => (
    <label class="field" key={name}><span>{label}</span><select id={`action-${name}`} value={action[name]} onChange={(event) => onChange({ [name]: event.currentTarget.value })}>
      {options.map(([value, text]) => <option key={value} value={value}>{text}</option>)}
    </select></label>
  );
  const same = (names: readonly string[]) => names.map((one) => [one, one] as const);
  return (
    <Card name="actions" title="Act">
      <div class="ticket">
        <p class="dim">No key of the operator is in a browser: this page writes the command, and you run it where the key is.</p>
        {choice('name', 'What', Object.entries(ACTIONS))}
        {has('market_state', 'operator_cancel') && choice('market', 'Market', [['', action.name === 'market_state' ? 'choose' : 'all markets'], ...same(markets.map((one) => one.market))])}
        {has('market_state', 'halt_all') && choice('state', 'State', same(STATES))}
        {has('market_state') && <label class="switch"><input type="checkbox" id="action-force" checked={action.isForced} onChange={(event) => onChange({ isForced: event.currentTarget.checked })} />--force: CLOSED without its hour, REDUCE_ONLY that announces it</label>}
        {has('withdrawal_settle') && [field('withdrawal', 'Withdrawal'), choice('outcome', 'Outcome', [['settle', 'settle: it was paid'], ['revert', 'revert: it goes back']])]}
        {has('suspend_account') && [field('account', 'Account'), <label class="switch" key="suspend"><input type="checkbox" id="action-suspend" checked={action.isSuspended} onChange={(event) => onChange({ isSuspended: event.currentTarget.checked })} />suspended</label>]}
        {has('operator_cancel') && [field('whose', 'Whose'), field('order', 'Order, or none')]}
        {field('keyFile', 'Key file')}
        {field('url', 'Exchange')}
        {'fault' in composed ? <p class="nothing">{composed.fault}</p> : <>
          <pre class="command" id="command" tabIndex={0}>{composed.command}</pre>
          <p class="actions"><Copy text={() => composed.command}>copy</Copy></p>
          <p class="dim">perp makes a new id, and with --dry-run --explain it shows the same bytes before it sends them.</p>
          <ByteTable payload={composed.payload} origin={action.url} />
        </>}
      </div>
    </Card>
  );
}
