import { expect, test } from 'vitest'
import { createUpdates, type Updater } from '../../../src-main/desktop/updates.ts'
import type { DesktopSettings, UpdateState } from '../../../src-shared/contract/desktop.ts'

function updates(
  updater: Partial<Updater> | 'not_installed' | 'no_feed',
  channel: DesktopSettings['updates'] = 'stable',
) {
  const seen: UpdateState[] = []
  const done: string[] = []
  const chosen = { channel }
  let tick: () => void = () => undefined
  const made = createUpdates({
    updater:
      typeof updater === 'string'
        ? updater
        : {
            find: (asked) => Promise.resolve(done.push(`find ${asked}`)).then(() => null),
            download: () => Promise.resolve(void done.push('download')),
            install: () => Promise.resolve(void done.push('install')),
            ...updater,
          },
    channel: () => chosen.channel,
    now: () => new Date('2026-11-22T10:00:00Z'),
    regularly: (work) => {
      tick = work
      return () => done.push('stopped')
    },
    onChange: (state) => seen.push(state),
  })
  return { made, seen, done, chosen, tick: () => tick() }
}
const settled = () => new Promise((resolve) => setImmediate(resolve))

test.each(['not_installed', 'no_feed'] as const)('does nothing without a feed, and says so (%s)', async (reason) => {
  const { made, seen } = updates(reason)
  for (const step of ['check', 'download', 'install'] as const) await made.take(step)
  expect([made.state(), seen]).toEqual([{ kind: 'unavailable', reason }, []])
})

test('checks from time to time, shows the result and downloads nothing by itself', async () => {
  const { made, tick, done } = updates({ find: () => Promise.resolve('1.2.0') })
  tick()
  await settled()
  expect([made.state(), done]).toEqual([{ kind: 'available', version: '1.2.0' }, []])
})

test('does not check when it is off, even if asked', async () => {
  const { made, tick, done } = updates({}, 'off')
  tick()
  await made.take('check')
  expect([made.state(), done]).toEqual([{ kind: 'off' }, []])
})

test('downloads with progress on a click, installs on another, and skips no step', async () => {
  const { made, seen, done } = updates({
    find: () => Promise.resolve('2.0.0'),
    download: (onPercent) => {
      for (const percent of [0.2, 49.9, 49.95, 100]) onPercent(percent)
      return Promise.resolve()
    },
  })
  await made.take('install')
  await made.take('download')
  expect(done).toEqual([])
  await made.take('check')
  await made.take('download')
  expect(seen.map((state) => ('percent' in state ? state.percent : state.kind))).toEqual([
    'checking',
    'available',
    0,
    49,
    100,
    'ready',
  ])
  await made.take('check')
  expect(made.state()).toEqual({ kind: 'ready', version: '2.0.0' })
  await made.take('install')
  expect(done).toEqual(['install'])
})

test('shows a failure in a line, and checks again later', async () => {
  let broken = true
  const find = () => (broken ? Promise.reject(new Error('no network\nat somewhere')) : Promise.resolve(null))
  const { made } = updates({ find })
  await made.take('check')
  expect(made.state()).toEqual({ kind: 'failed', message: 'no network' })
  broken = false
  await made.take('check')
  expect(made.state()).toEqual({ kind: 'current', checked_at: '2026-11-22T10:00:00.000Z' })
})

test('checks again for another channel and ignores late results of the old one', async () => {
  const answers = new Map<string, (version: string) => void>()
  const find = (channel: string) => new Promise<string>((resolve) => answers.set(channel, resolve))
  const { made, chosen } = updates({ find })
  const first = made.take('check')
  chosen.channel = 'beta'
  const second = made.channelChanged()
  answers.get('beta')?.('3.0.0-beta.1')
  answers.get('stable')?.('2.0.0')
  await Promise.all([first, second])
  expect(made.state()).toEqual({ kind: 'available', version: '3.0.0-beta.1' })
})
