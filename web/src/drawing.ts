/* A pane's drawing, and what draws it again. */
import { type RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useModel } from './model';
import { settings } from './settings';

/** What a library has drawn into a place. */
export type Drawing = { resize(width: number, height: number): void; end(): void };

/** What is drawn, and how it is drawn again. */
export type Drawn = { drawing: Drawing; draw(): void };

/** The colours of the page, by their names in app.css. */
export function pageColour(): (name: string) => string {
  const style = getComputedStyle(document.documentElement);
  return (name) => style.getPropertyValue(`--${name}`).trim();
}

const DARK = '(prefers-color-scheme: dark)';

/** Which colours the page has: another text when they change. */
function useColours(): string {
  const [isDark, setDark] = useState(() => matchMedia(DARK).matches);
  useModel(settings);
  useEffect(() => {
    const dark = matchMedia(DARK);
    const change = () => setDark(dark.matches);
    dark.addEventListener('change', change);
    return () => dark.removeEventListener('change', change);
  }, []);
  return `${isDark} ${settings.get('theme')} ${settings.get('sides')}`;
}

/** The place of a drawing: made again when one of `inputs` or the page's colours change, drawn each `period` milliseconds while the page
 * is seen, of the size of its place, ended with the pane. `make` null: nothing is drawn. What does not come is said in its place. */
export function useDrawing(
  make: ((place: HTMLElement) => Promise<() => Drawn>) | null, period: number, inputs: readonly unknown[],
): RefObject<HTMLDivElement | null> {
  const place = useRef<HTMLDivElement>(null);
  const colours = useColours();
  useEffect(() => {
    const element = place.current;
    if (element === null || make === null) return;
    element.textContent = '';
    let drawing: Drawing | null = null;
    let ended = false;
    let timer = 0;
    const sizes = new ResizeObserver(() => drawing?.resize(element.clientWidth, element.clientHeight));
    void make(element).then((begin) => {
      if (ended) return;
      const drawn = begin();
      drawing = drawn.drawing;
      sizes.observe(element);
      const draw = () => document.hidden || drawn.draw();
      timer = window.setInterval(draw, period);
      draw();
    }).catch((error: Error) => {
      if (!ended) element.textContent = `This cannot be drawn (${error.message}): reload the page.`;
    });
    return () => {
      ended = true;
      clearInterval(timer);
      sizes.disconnect();
      drawing?.end();
    };
  }, [...inputs, colours]);
  return place;
}
