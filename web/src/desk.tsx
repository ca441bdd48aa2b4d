/* What acts for an account: it is loaded when the market is on the screen. */
import './common';
import './signed';
import { statusText } from './code_text';
import { words } from './text';

words.status = statusText;

export { AccountMenu } from './account_menu';
export { AccountPanes, TABS, cancelAll } from './account_panes';
export { OlderTrades } from './older_trades';
export { TicketPane } from './ticket_pane';
export { Trader } from './trader';
