/** Tells its listeners, in the order in which they began to listen, so that who tells need not know them. */
export interface Signal<T extends readonly unknown[]> {
  readonly tell: (...news: T) => void
  readonly listen: (listener: (...news: T) => void) => void
}

export function createSignal<T extends readonly unknown[]>(): Signal<T> {
  const listeners: ((...news: T) => void)[] = []
  return {
    tell: (...news) => {
      for (const listener of listeners) listener(...news)
    },
    listen: (listener) => {
      listeners.push(listener)
    },
  }
}
