import type { DesktopSettings, UpdateState, UpdateStep } from '../../src-shared/contract/desktop.ts'

/** Source of newer versions. */
export interface Updater {
  /** Returns the newest version of a channel; null if it is installed. */
  find(channel: 'stable' | 'beta'): Promise<string | null>
  /** Downloads the version that was found last. */
  download(onPercent: (percent: number) => void): Promise<void>
  /** Quits the program and starts the new version. */
  install(): Promise<void>
}

export interface UpdatePorts {
  /** The updater, or why there is none. */
  readonly updater: Updater | 'not_installed' | 'no_feed'
  channel(): DesktopSettings['updates']
  now(): Date
  /** Calls `work` periodically, first soon after the start; returns a function that stops it. */
  regularly(work: () => void): () => void
  onChange(state: UpdateState): void
}

export interface Updates extends Disposable {
  state(): UpdateState
  /** Performs a step; ignores one that does not fit the state. */
  take(step: UpdateStep): Promise<void>
  /** Called after the channel was changed. */
  channelChanged(): Promise<void>
}

/** Looks for newer versions and reports them; downloads and installs only when asked. */
export function createUpdates(ports: UpdatePorts): Updates {
  const { updater } = ports
  const rest = (): UpdateState => {
    if (typeof updater === 'string') return { kind: 'unavailable', reason: updater }
    return ports.channel() === 'off' ? { kind: 'off' } : { kind: 'current', checked_at: null }
  }
  let state = rest()
  /** Number of the latest check: results of earlier ones are dropped. */
  let latest = 0
  const become = (next: UpdateState) => ports.onChange((state = next))
  const failed = (error: unknown): UpdateState => ({
    kind: 'failed',
    message: error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error),
  })

  async function check(source: Updater): Promise<void> {
    const channel = ports.channel()
    if (channel === 'off' || ['checking', 'downloading', 'ready'].includes(state.kind)) return
    latest += 1
    const attempt = latest
    become({ kind: 'checking' })
    const found = await source
      .find(channel)
      .then(
        (version): UpdateState =>
          version === null
            ? { kind: 'current', checked_at: ports.now().toISOString() }
            : { kind: 'available', version },
        failed,
      )
    if (attempt === latest) become(found)
  }
  async function download(source: Updater): Promise<void> {
    if (state.kind !== 'available') return
    const { version } = state
    latest += 1
    const attempt = latest
    const progress = (percent: number) => {
      const whole = Math.min(100, Math.max(0, Math.floor(percent)))
      if (attempt !== latest || state.kind !== 'downloading' || state.percent === whole) return
      become({ kind: 'downloading', version, percent: whole })
    }
    become({ kind: 'downloading', version, percent: 0 })
    const done = await source.download(progress).then((): UpdateState => ({ kind: 'ready', version }), failed)
    if (attempt === latest) become(done)
  }
  async function take(step: UpdateStep): Promise<void> {
    if (typeof updater === 'string') return
    if (step === 'check') await check(updater)
    if (step === 'download') await download(updater)
    if (step === 'install' && state.kind === 'ready') await updater.install()
  }
  const stop = typeof updater === 'string' ? () => undefined : ports.regularly(() => void take('check'))
  return {
    state: () => state,
    take,
    channelChanged: async () => {
      latest += 1
      become(rest())
      await take('check')
    },
    [Symbol.dispose]: stop,
  }
}
