/* What acts for an account: it is loaded when the market is on the screen. */
import './common';
import './signed';
export { AccountMenu } from './account_menu';
export { AccountPanes, TABS, cancelAll } from './account_panes';
export { TicketPane } from './ticket_pane';
