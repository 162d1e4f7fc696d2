/** The name of the preload's isolated world. */
export const preloadWorld = 'preload'

/** Scripts for every new document: the page's half of the context bridge, and the preload in its own world. */
export function worldScripts(preload: string, key: string): { readonly page: string; readonly preload: string } {
  const env = JSON.stringify({ platform: process.platform, versions: process.versions, argv: [], env: {} })
  const name = JSON.stringify(key)
  return {
    page: `if (window === top) (${connectWorlds.toString()})(${name}).answerExposed()`,
    preload: `if (window === top) { const electron = (${preloadElectron.toString()})((${connectWorlds.toString()})(${name}));
      ((require, process, module, exports) => { ${preload}\n })(() => electron, ${env}, { exports: {} }, {}) }`,
  }
}

interface Worlds {
  expose(name: string, api: unknown): void
  answerExposed(): void
}

/**
 * Runs in both worlds (as text, so it refers to nothing outside). Values cross as JSON in synchronous DOM events; a
 * function crosses as a number that the other side calls back.
 */
function connectWorlds(key: string): Worlds {
  type Message = { readonly to: number; readonly args: readonly unknown[] }
  const side = Math.random()
  const functions = new Map<number, (...args: unknown[]) => unknown>()
  const exposed: [string, unknown][] = []
  let count = 0
  let returned: unknown = null

  const send = (kind: string, value: unknown) => {
    document.dispatchEvent(new CustomEvent(key, { detail: JSON.stringify({ side, kind, value }) }))
  }
  const keep = (call: (...args: unknown[]) => unknown) => {
    count += 1
    functions.set(count, call)
    return count
  }
  const pack = (value: unknown): unknown => {
    if (typeof value === 'function') return { $call: keep(value as () => unknown) }
    if (value instanceof Promise) {
      return {
        $promise: keep(
          (ok, no) => void value.then(ok as () => void, (e: Error) => (no as (t: string) => void)(e.message)),
        ),
      }
    }
    if (Array.isArray(value)) return value.map(pack)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, pack(item)]))
  }
  const callOther = (to: number, args: unknown[]): unknown => {
    send('call', { to, args: args.map(pack) })
    const { error, value } = returned as { error?: string; value?: unknown }
    if (error !== undefined) throw new Error(error)
    return unpack(value)
  }
  const unpack = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(unpack)
    if (typeof value !== 'object' || value === null) return value
    const { $call, $promise } = value as { $call?: number; $promise?: number }
    if ($call !== undefined) return (...args: unknown[]) => callOther($call, args)
    if ($promise !== undefined) {
      return new Promise((ok, no) => callOther($promise, [ok, (text: string) => no(new Error(text))]))
    }
    return Object.freeze(Object.fromEntries(Object.entries(value).map(([name, item]) => [name, unpack(item)])))
  }
  const answer: Record<string, (value: never) => void> = {
    call: ({ to, args }: Message) => {
      try {
        send('return', { value: pack(functions.get(to)?.(...args.map(unpack))) })
      } catch (error) {
        send('return', { error: (error as Error).message })
      }
    },
    return: (value: unknown) => (returned = value),
    ask: () => exposed.forEach((entry) => send('expose', entry)),
    expose: ([name, api]: [string, unknown]) => {
      Object.defineProperty(window, name, { value: unpack(api), enumerable: true })
    },
  }
  document.addEventListener(
    key,
    (event) => {
      const message = JSON.parse((event as CustomEvent<string>).detail) as { side: number; kind: string; value: never }
      if (message.side === side) return
      event.stopImmediatePropagation()
      answer[message.kind]?.(message.value)
    },
    true,
  )
  return {
    expose: (name, api) => {
      const entry: [string, unknown] = [name, pack(api)]
      exposed.push(entry)
      send('expose', entry)
    },
    // The second script to run finds the other one listening.
    answerExposed: () => send('ask', null),
  }
}

/** `require('electron')` in a sandboxed preload; runs there. */
function preloadElectron(worlds: Worlds) {
  type Listener = (event: unknown, ...args: unknown[]) => void
  type Reply = { readonly id: number; readonly value?: unknown; readonly error?: string }
  const standin = globalThis as unknown as {
    copseStandinSend(text: string): void
    copseStandinReceive(kind: string, data: unknown): void
  }
  const pending = new Map<number, { ok(value: unknown): void; no(error: Error): void }>()
  const listeners = new Map<string, Listener[]>()
  let count = 0
  standin.copseStandinReceive = (kind, data) => {
    if (kind === 'push') {
      const { channel, args } = data as { channel: string; args: unknown[] }
      for (const listener of listeners.get(channel) ?? []) listener({}, ...args)
      return
    }
    const { id, value, error } = data as Reply
    const waiting = pending.get(id)
    pending.delete(id)
    if (error === undefined) waiting?.ok(value)
    else waiting?.no(new Error(error))
  }
  return {
    contextBridge: { exposeInMainWorld: worlds.expose },
    // Chromium does not reveal a file's path, so the test sets it in the page.
    webUtils: { getPathForFile: () => document.documentElement.dataset['droppedPath'] ?? '' },
    ipcRenderer: {
      invoke: (channel: string, ...args: unknown[]) =>
        new Promise((ok, no) => {
          count += 1
          pending.set(count, { ok, no })
          standin.copseStandinSend(JSON.stringify({ id: count, channel, args }))
        }),
      send: (channel: string, ...args: unknown[]) =>
        standin.copseStandinSend(JSON.stringify({ id: null, channel, args })),
      on: (channel: string, listener: Listener) =>
        listeners.set(channel, [...(listeners.get(channel) ?? []), listener]),
    },
  }
}
