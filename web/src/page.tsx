/* The trader's page as scripts make it. */
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
render(<App exchange={exchange} />, document.getElementById('app')!);
