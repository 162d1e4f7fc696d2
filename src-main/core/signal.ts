/** Calls its listeners, in the order in which they were added, so that the caller needs to know none of them. */
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
