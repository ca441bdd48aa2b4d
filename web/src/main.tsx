import './common';
import { render } from 'preact';
import { App } from './app';
import { Exchange } from './exchange';
import { faults } from './fault';
import { settings } from './settings';

faults.start();
settings.start();
const exchange = new Exchange();
exchange.start();
// The page as its file has it is painted first: what is asked for is on its way meanwhile.
requestAnimationFrame(() => setTimeout(() => render(<App exchange={exchange} />, document.getElementById('app')!)));
