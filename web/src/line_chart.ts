/* Lines on a canvas: a depth, a lag, percentiles. Only the places on the screen are doubles. */
import { type Drawing, pageColour } from './drawing';

export type Point = readonly [x: number, y: number];
/** A line in a colour of the page, by its points in rising x. Steps hold the value of the point before them or after
 * them. */
export type Line = { tone: string; points: readonly Point[]; step?: 'before' | 'after'; isFilled?: boolean };
/** What axes say; `isLog`: y by powers of ten, where only values above 0 are drawn. */
export type Axes = { x(value: number): string; y(value: number): string; isLog?: boolean };
export type LineChart = Drawing & { draw(lines: readonly Line[]): void };

const LEFT = 60;
const BOTTOM = 20;
const EDGE = 8;
const FONT = '11px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

/** Round values from `low` to `high`, about `count` of them. */
export function roundValues(low: number, high: number, count: number): number[] {
  const rough = (high - low) / Math.max(1, count);
  if (!(rough > 0) || !Number.isFinite(rough)) return [low];
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * unit).find((one) => one >= rough * 0.999) ?? rough;
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => (first + i) * step);
}

/** The corners of a line. */
export function corners({ points, step }: Line): Point[] {
  if (step === undefined) return [...points];
  const found: Point[] = [];
  points.forEach((point, i) => {
    const last = points[i - 1];
    if (last !== undefined) found.push(step === 'after' ? [point[0], last[1]] : [last[0], point[1]]);
    found.push(point);
  });
  return found;
}

/** The range that the lines need; null: there is nothing to draw. */
function range(lines: readonly Line[], isLog: boolean) {
  const all = lines.flatMap((line) => line.points).filter((point) => !isLog || point[1] > 0);
  if (all.length === 0) return null;
  const least = (of: 0 | 1) => all.reduce((found, point) => Math.min(found, point[of]), Infinity);
  const most = (of: 0 | 1) => all.reduce((found, point) => Math.max(found, point[of]), -Infinity);
  const top = most(1);
  const bottom = isLog ? 10 ** Math.floor(Math.log10(least(1))) : Math.min(0, least(1));
  return { left: least(0), right: most(0), bottom, top: isLog ? 10 ** Math.ceil(Math.log10(top * 1.001)) : top > bottom ? top * 1.05 : bottom + 1 };
}

export function makeLineChart(place: HTMLElement, axes: Axes, onPick?: (x: number) => void): LineChart {
  const canvas = document.createElement('canvas');
  const pen = canvas.getContext('2d')!;
  const scaled = (value: number) => (axes.isLog ? Math.log10(value) : value);
  let lines: readonly Line[] = [];
  let size = { width: 0, height: 0 };
  let shown: ReturnType<typeof range> = null;
  let pointer: number | null = null;
  place.append(canvas);

  const inside = () => ({ width: size.width - LEFT - EDGE, height: size.height - BOTTOM - EDGE });
  const toX = (x: number) => LEFT + ((x - shown!.left) / (shown!.right - shown!.left || 1)) * inside().width;
  const toY = (y: number) => {
    const low = scaled(shown!.bottom);
    return EDGE + (1 - (scaled(y) - low) / (scaled(shown!.top) - low)) * inside().height;
  };

  const rule = (x1: number, y1: number, x2: number, y2: number) => {
    pen.beginPath();
    pen.moveTo(x1, y1);
    pen.lineTo(x2, y2);
    pen.stroke();
  };

  function drawAxes(colour: (name: string) => string) {
    const { bottom, top, left, right } = shown!;
    const { width, height } = inside();
    const powers = Array.from({ length: 20 }, (_, i) => 10 ** (Math.round(Math.log10(bottom)) + i)).filter((one) => one <= top);
    pen.font = FONT;
    pen.fillStyle = colour('dim');
    pen.strokeStyle = colour('line');
    pen.lineWidth = 1;
    pen.textAlign = 'right';
    pen.textBaseline = 'middle';
    for (const value of axes.isLog ? powers : roundValues(bottom, top, height / 28)) {
      rule(LEFT, Math.round(toY(value)) + 0.5, LEFT + width, Math.round(toY(value)) + 0.5);
      pen.fillText(axes.y(value), LEFT - 6, toY(value));
    }
    pen.textAlign = 'center';
    pen.textBaseline = 'top';
    for (const value of roundValues(left, right, width / 90)) {
      rule(Math.round(toX(value)) + 0.5, EDGE, Math.round(toX(value)) + 0.5, EDGE + height);
      const half = pen.measureText(axes.x(value)).width / 2;
      pen.fillText(axes.x(value), Math.min(Math.max(toX(value), half), size.width - half), EDGE + height + 4);
    }
  }

  function drawLine(line: Line, colour: (name: string) => string) {
    const points = corners(line).filter((point) => !axes.isLog || point[1] > 0);
    if (points.length === 0) return;
    pen.beginPath();
    points.forEach(([x, y], i) => (i === 0 ? pen.moveTo(toX(x), toY(y)) : pen.lineTo(toX(x), toY(y))));
    pen.strokeStyle = colour(line.tone);
    pen.lineWidth = 1.5;
    pen.stroke();
    if (!line.isFilled) return;
    const floor = toY(shown!.bottom);
    pen.lineTo(toX(points.at(-1)![0]), floor);
    pen.lineTo(toX(points[0][0]), floor);
    pen.globalAlpha = 0.14;
    pen.fillStyle = colour(line.tone);
    pen.fill();
    pen.globalAlpha = 1;
  }

  function paint() {
    const ratio = window.devicePixelRatio;
    const colour = pageColour();
    if (canvas.width !== Math.round(size.width * ratio) || canvas.height !== Math.round(size.height * ratio)) {
      canvas.width = Math.round(size.width * ratio);
      canvas.height = Math.round(size.height * ratio);
      canvas.style.width = `${size.width}px`;
      canvas.style.height = `${size.height}px`;
    }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, size.width, size.height);
    shown = range(lines, axes.isLog === true);
    if (shown === null || inside().width < 1 || inside().height < 1) return;
    drawAxes(colour);
    for (const line of lines) drawLine(line, colour);
    if (pointer === null || pointer < LEFT || pointer > LEFT + inside().width) return;
    pen.strokeStyle = colour('dim');
    pen.lineWidth = 1;
    rule(Math.round(pointer) + 0.5, EDGE, Math.round(pointer) + 0.5, EDGE + inside().height);
  }

  const at = (event: MouseEvent) => event.clientX - canvas.getBoundingClientRect().left;
  canvas.addEventListener('mousemove', (event) => {
    pointer = at(event);
    paint();
  });
  canvas.addEventListener('mouseleave', () => {
    pointer = null;
    paint();
  });
  canvas.addEventListener('click', (event) => {
    const part = (at(event) - LEFT) / inside().width;
    if (shown !== null && part >= 0 && part <= 1) onPick?.(shown.left + part * (shown.right - shown.left));
  });
  return {
    draw: (next) => {
      lines = next;
      paint();
    },
    resize: (width, height) => {
      size = { width, height };
      paint();
    },
    end: () => canvas.remove(),
  };
}
