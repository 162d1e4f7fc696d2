import { createPinia, setActivePinia } from 'pinia'
import { createApp, effectScope } from 'vue'
import { vi } from 'vitest'
import { createWindowSession } from '../../../src-renderer/api/session.ts'
import { connectionKey } from '../../../src-renderer/stores/base/client.ts'
import { createClient } from '../../../src-shared/client/create-client.ts'

/** The answers of a service by operation; calls to others throw. */
export type Answers = Readonly<Record<string, (input: never) => unknown>>

/** Returns the service's answer to a call. */
export type Reply = (name: string, input: Readonly<Record<string, unknown>>) => unknown

/** Runs `use` with such a service in an app without a page. */
export function onService<T>(reply: Reply, use: () => T): T {
  const app = createApp({})
  const pinia = createPinia()
  const client = createClient({
    call: async (name, input) => reply(name, input as Readonly<Record<string, unknown>>),
    stream: () => {
      throw new Error('Nothing is streamed.')
    },
  })
  app.provide(connectionKey, { client, session: createWindowSession(), desktop: null })
  app.use(pinia)
  setActivePinia(pinia)
  return app.runWithContext(use)
}

/** Stubs what stores need of a page. The caller restores the globals: `vi.unstubAllGlobals()`. */
export function stubPage(): void {
  const disk = new Map<string, string>()
  const listens = { addEventListener: () => undefined, removeEventListener: () => undefined }
  vi.stubGlobal('window', {
    ...listens,
    location: { hash: '' },
    history: { state: null, pushState: () => undefined, replaceState: () => undefined },
  })
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => disk.get(key) ?? null,
    setItem: (key: string, value: string) => void disk.set(key, value),
    removeItem: (key: string) => void disk.delete(key),
  })
}

/**
 * Runs `use` like a component's set-up with such a service, without a page. `end` unmounts it. The caller restores
 * the globals: `vi.unstubAllGlobals()`.
 */
export function withService<T>(answers: Answers, use: () => T): { readonly used: T; end(): void } {
  stubPage()
  const scope = effectScope()
  const reply: Reply = (name, input) => {
    const answer = answers[name]
    if (!answer) throw new Error(`Nobody answers ${name}.`)
    return answer(input as never)
  }
  const used = onService(reply, () => scope.run(use))
  if (used === undefined) throw new Error('The scope is over.')
  return { used, end: () => scope.stop() }
}
