/* What the shown market's hours of funding were. */
import { useEffect, useState } from 'preact/hooks';
import { get } from './api';
import { percentText, shownText } from './decimal';
import type { Exchange } from './exchange';
import { useModel } from './model';
import { Loading, Nothing } from './pane';

const ROWS = 100;
const READ_MS = 60_000;

export function FundingRates({ exchange }: { exchange: Exchange }) {
  const { market } = useModel(exchange);
  const name = market?.name ?? '';
  const [rates, setRates] = useState<any[] | null>(null);
  const [wrong, setWrong] = useState<string | null>(null);
  useEffect(() => {
    let isHere = true;
    const read = () => get(`/markets/${name}/funding-rates?limit=${ROWS}`).then((body) => isHere && (setRates(body.funding_rates), setWrong(null)), (problem: Error) => isHere && setWrong(problem.message));
    setRates(null);
    void read();
    const timer = setInterval(() => document.hidden || void read(), READ_MS);
    return () => {
      isHere = false;
      clearInterval(timer);
    };
  }, [name]);
  return (
    <section aria-label={`Funding rates of ${name}`}>
      <h3 class="health-line">Rates of {name}</h3>
      {wrong !== null && <p class="health-line tone-bad" role="status">{wrong}</p>}
      {rates === null ? wrong === null && <Loading what="rates" /> : rates.length === 0 ? <Nothing>no hour has ended yet</Nothing> : (
        <table>
          <caption class="visually-hidden">Funding rates, newest first</caption>
          <thead><tr><th scope="col">Hour</th><th scope="col">Rate</th><th scope="col">Index</th></tr></thead>
          <tbody>{rates.map((row) => (
            <tr key={row.time} title={`sequence ${row.sequence}, ${row.time_ns} ns`}>
              <th scope="row">{new Date(row.time).toLocaleString([], { dateStyle: 'short', timeStyle: 'short', hour12: false })}</th>
              <td class={row.funding_rate.startsWith('-') ? 'sell' : 'buy'}>{percentText(row.funding_rate)}</td><td>{shownText(row.index_price, market!.record.price_decimals)}</td>
            </tr>
          ))}</tbody>
        </table>
      )}
    </section>
  );
}
