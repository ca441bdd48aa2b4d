/* The portfolios of the account and their cash, of which this page trades in the first. */
import { useEffect, useState } from 'preact/hooks';
import { get } from './api';
import { parseRaw, shown, shownText } from './decimal';
import type { Trader } from './trader';

const MICRO = 6;
const ROWS_MAX = 1000;
/** The one that this page trades in. */
const OWN = '0/0';

export const placeOf = (row: any): string => `${row.subaccount_index}/${row.portfolio_index}`;

/** The portfolios that are not closed, read again when the account's cash has changed; null: they have not come. */
export function usePortfolios(trader: Trader): { rows: any[] | null; problem: string | null; others: string[] } {
  const [rows, setRows] = useState<any[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const { account, credentials } = trader;
  useEffect(() => {
    let isHere = true;
    get(`/portfolio/cash_balances?limit=${ROWS_MAX}`, credentials!.apiKey).then(
      (all: any[]) => isHere && (setRows(all.filter((row) => row.status !== 'CLOSED')), setProblem(null)),
      (caught: Error) => isHere && setProblem(caught.message));
    return () => void (isHere = false);
  }, [account?.balance.cash_balance, account?.balance.equity === '0', credentials]);
  return { rows, problem, others: (rows ?? []).map(placeOf).filter((place) => place !== OWN) };
}

/** Nothing while there is one. */
export function Portfolios({ rows }: { rows: any[] }) {
  if (rows.length < 2) return null;
  const sum = rows.reduce((total, row) => total + (parseRaw(row.cash_balance, MICRO) ?? 0n), 0n);
  return (
    <table>
      <caption>Portfolios of the account; this page trades in {OWN}</caption>
      <thead><tr><th scope="col">Portfolio</th><th scope="col" class="opt">Name</th><th scope="col">Cash, USDC</th><th scope="col">Equity</th></tr></thead>
      <tbody>{rows.map((row) => (
        <tr key={placeOf(row)}><th scope="row">{placeOf(row)}</th><td class="opt">{row.name}</td><td>{shownText(row.cash_balance, MICRO)}</td><td>{shownText(row.equity, MICRO)}</td></tr>
      ))}</tbody>
      <tfoot><tr><th scope="row">all</th><td class="opt" /><td>{shown(sum, MICRO)}</td><td /></tr></tfoot>
    </table>
  );
}
