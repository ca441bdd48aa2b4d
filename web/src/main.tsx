import { render } from 'preact';
import { App } from './app';
import { Exchange } from './exchange';

const exchange = new Exchange();
exchange.start();
render(<App exchange={exchange} />, document.getElementById('app')!);
