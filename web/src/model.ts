/* What panes show. A message changes models alone; one frame of the screen then paints all that changed. */
import { Component, type ComponentChild, type ComponentType } from 'preact';
import { useEffect, useReducer } from 'preact/hooks';

const dirty = new Set<Model>();

function paint(): void {
  const models = [...dirty];
  dirty.clear();
  for (const model of models) model.paint();
}

export class Model {
  #watchers = new Set<() => void>();
  /** How often it has changed. */
  version = 0;

  /** Says that something changed; watchers are called once before the next frame. */
  changed(): void {
    if (dirty.size === 0) requestAnimationFrame(paint);
    dirty.add(this);
    this.version++;
  }

  paint(): void {
    for (const watcher of this.#watchers) watcher();
  }

  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }
}

/** Paints the component again whenever the model has changed. */
export function useModel<M extends Model | null | undefined>(model: M): M {
  const [, again] = useReducer((count: number) => count + 1, 0);
  const seen = model?.version;
  useEffect(() => {
    if (model?.version !== seen) again(undefined); // between this painting and now
    return model?.watch(() => again(undefined));
  }, [model]);
  return model;
}

/** A part that is painted again only when something that it is given is another: a row of many, of which few change in a frame. */
export function unlessSame<P extends object>(part: (props: P) => ComponentChild): ComponentType<P> {
  return class extends Component<P> {
    shouldComponentUpdate(next: Readonly<P>): boolean {
      return (Object.keys(next) as (keyof P)[]).some((name) => next[name] !== (this.props as P)[name]);
    }
    render(): ComponentChild {
      return part(this.props as P);
    }
  };
}

/** Paints the component again each `period` milliseconds, for what ages. */
export function useTick(period: number): void {
  const [, again] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    const timer = setInterval(() => document.hidden || again(undefined), period);
    return () => clearInterval(timer);
  }, [period]);
}
