/* Candles and volume drawn by lightweight-charts, with lines and marks of the account. */
import './common';
import {
  CandlestickSeries, type CandlestickData, ColorType, CrosshairMode, HistogramSeries, type IPriceLine, LineStyle,
  type SeriesMarker, type UTCTimestamp, createChart, createSeriesMarkers,
} from 'lightweight-charts';
import type { Candle, Candles, Mark } from './candles';
import { apiText, shown } from './decimal';
import { type Drawing, pageColour } from './drawing';

/** A price across the chart: the mark, a liquidation price. */
export type Line = { title: string; price: string; tone: string };

export type CandleChart = Drawing & {
  draw(candles: Candles): void;
  lines(lines: Line[]): void;
  marks(marks: Mark[]): void;
};

type Callbacks = { onHover(index: number | null): void; onOlder(): void };

const NEAR_THE_START = 20;
/** Candles that fit between the newest and the prices: there lines have their names. */
const ROOM = 8;
const SHOWN_AT_FIRST = { least: 40, most: 120 };

const second = (candle: Candle) => (candle.start / 1000) as UTCTimestamp;

export function makeCandleChart(place: HTMLElement, candles: Candles, { onHover, onOlder }: Callbacks): CandleChart {
  const colour = pageColour();
  const { price_decimals: decimals, size_decimals: sizeDecimals } = candles.market.record;
  const priceUnit = 10 ** decimals;
  const sizeUnit = 10 ** sizeDecimals;
  const chart = createChart(place, {
    width: place.clientWidth, height: place.clientHeight,
    localization: { priceFormatter: (price: number) => shown(BigInt(Math.round(price * priceUnit)), decimals) },
    layout: {
      attributionLogo: false, background: { type: ColorType.Solid, color: colour('pane') }, textColor: colour('dim'),
      fontSize: 11, fontFamily: 'system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif',
    },
    grid: { vertLines: { color: colour('line') }, horzLines: { color: colour('line') } },
    crosshair: { mode: CrosshairMode.Normal },
    rightPriceScale: { borderColor: colour('line') },
    timeScale: { borderColor: colour('line'), timeVisible: candles.interval !== '1d', rightOffset: ROOM },
  });
  const prices = chart.addSeries(CandlestickSeries, {
    upColor: colour('buy'), downColor: colour('sell'), wickUpColor: colour('buy'), wickDownColor: colour('sell'),
    borderVisible: true, lastValueVisible: false, priceLineVisible: false, borderUpColor: colour('buy'), borderDownColor: colour('sell'),
    priceFormat: { type: 'price', precision: decimals, minMove: Number(candles.market.tick) / priceUnit },
  });
  const volumes = chart.addSeries(HistogramSeries, {
    priceScaleId: 'volume', priceFormat: { type: 'volume' }, lastValueVisible: false, priceLineVisible: false,
  });
  chart.priceScale('volume').applyOptions({ scaleMargins: { top: 0.82, bottom: 0 } });
  chart.priceScale('right').applyOptions({ scaleMargins: { top: 0.06, bottom: 0.22 } });
  const marker = createSeriesMarkers(prices);
  let drawn: number[] = []; // the starts that the chart has
  let lines: { line: Line; made: IPriceLine }[] = [];
  let placed: SeriesMarker<UTCTimestamp>[] = [];

  // Only here do prices and sizes become doubles. The open candle is drawn hollow.
  const bar = (candle: Candle, isOpen: boolean): CandlestickData => ({
    time: second(candle), open: Number(candle.open) / priceUnit, high: Number(candle.high) / priceUnit,
    low: Number(candle.low) / priceUnit, close: Number(candle.close) / priceUnit,
    ...(isOpen ? { color: 'transparent' } : {}),
  });
  const volume = (candle: Candle) => ({
    time: second(candle), value: Number(candle.volume) / sizeUnit,
    color: `${colour(candle.close >= candle.open ? 'buy' : 'sell')}c0`,
  });

  chart.subscribeCrosshairMove((event) => {
    const index = event.time === undefined ? -1 : drawn.indexOf((event.time as number) * 1000);
    onHover(index < 0 ? null : index);
  });
  chart.timeScale().subscribeVisibleLogicalRangeChange((range) => {
    if (range !== null && range.from < NEAR_THE_START && drawn.length > 0) onOlder();
  });

  return {
    draw({ rows }) {
      const follows = drawn.length > 0 && rows[0]?.start === drawn[0] && rows.length - drawn.length <= 1 &&
        rows.length >= drawn.length && rows[drawn.length - 1].start === drawn.at(-1);
      if (follows) {
        const from = Math.max(0, drawn.length - 1);
        for (const candle of rows.slice(from)) {
          prices.update(bar(candle, candle === rows.at(-1)));
          volumes.update(volume(candle));
        }
      } else {
        const first = drawn.length === 0;
        prices.setData(rows.map((candle) => bar(candle, candle === rows.at(-1))));
        volumes.setData(rows.map(volume));
        const wide = Math.min(SHOWN_AT_FIRST.most, Math.max(SHOWN_AT_FIRST.least, rows.length));
        if (first) chart.timeScale().setVisibleLogicalRange({ from: rows.length - wide, to: rows.length + ROOM });
      }
      drawn = rows.map((candle) => candle.start);
    },
    lines(wanted) {
      for (const { made } of lines.splice(wanted.length)) prices.removePriceLine(made);
      lines = wanted.map((line, at) => {
        const old = lines[at];
        if (old !== undefined && old.line.price === line.price && old.line.title === line.title) return old; // each change draws all
        const options = {
          price: Number(line.price), title: line.title, color: colour(line.tone), lineWidth: 1 as const,
          lineStyle: LineStyle.Dashed, axisLabelVisible: true,
        };
        old?.made.applyOptions(options);
        return { line, made: old?.made ?? prices.createPriceLine(options) };
      });
    },
    marks(marks) {
      const wanted = marks.map(({ start, isBuy, size }): SeriesMarker<UTCTimestamp> => ({
        time: (start / 1000) as UTCTimestamp, text: apiText(size, sizeDecimals),
        position: isBuy ? 'belowBar' : 'aboveBar', shape: isBuy ? 'arrowUp' : 'arrowDown',
        color: colour(isBuy ? 'buy' : 'sell'),
      }));
      if (wanted.length === placed.length && wanted.every((one, at) => one.time === placed[at].time && one.text === placed[at].text && one.shape === placed[at].shape)) return;
      placed = wanted;
      marker.setMarkers(wanted);
    },
    resize: (width, height) => chart.resize(width, height),
    end() {
      chart.remove();
      onHover(null);
    },
  };
}
