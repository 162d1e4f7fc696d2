import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { RunLink } from '../../../src-shared/contract/executions.ts'
import type { Activity } from '../../../src-shared/contract/events.ts'
import type { ActiveRun } from '../../../src-main/executions/executions.ts'
import { createSweeps, type SweepParts } from '../../../src-main/engine/sweeps.ts'

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse('2026-11-21T12:00:00Z') })
})
afterEach(() => {
  vi.useRealTimers()
})

function sweepsOver(runs: readonly ActiveRun[], link: RunLink | null = null) {
  const said: Omit<Activity, 'occurred_at'>[] = []
  const context = {
    clock: { now: () => Date.now() },
    store: {
      shrink: () => false,
      read: {
        executions: { open: () => [], queue: () => [], get: () => ({ link }) },
        effects: { pendingTasks: () => [] },
        pendingHooks: { pendingTasks: () => [] },
        projects: { deleted: () => [], get: () => ({ settings: { stall_after_seconds: 60 } }) },
      },
    },
    feed: { activity: ({ occurred_at: _at, ...activity }: Activity) => said.push(activity) },
    log: { error: () => undefined, warn: () => undefined },
  }
  const nothing = { sweep: () => Promise.resolve() }
  const steps = { context } as unknown as SweepParts
  const worker = { isIdle: () => true, wake: () => undefined }
  const executions = { running: () => new Map(runs.map((run) => [run.record.id, run])) }
  return {
    said,
    sweeps: createSweeps({
      ...steps,
      attachments: nothing,
      cleanup: nothing,
      rescues: nothing,
      executions,
      remoteRuns: { sweep: () => undefined },
      worker,
      onSlotFreed: () => undefined,
    }),
  }
}

const runOf = (id: string, live: boolean, asks: readonly string[] = []): ActiveRun =>
  ({
    record: { id, task_id: `task of ${id}`, project_id: 'P' },
    live: live ? {} : null,
    lastActivityAt: Date.now(),
    stalled: false,
    asks: { pending: () => asks },
  }) as unknown as ActiveRun

test('counts no silence while the runner of an agent is out of contact', async () => {
  const agent = runOf('A', true)
  const { sweeps, said } = sweepsOver([agent], { state: 'lost', since: '2026-11-21T12:00:00.000Z' })
  sweeps.start()
  await vi.advanceTimersByTimeAsync(600_000)
  expect(said).toEqual([])
  await sweeps.close()
})

test('reports a stalled agent once, and again when it stalls again', async () => {
  const agent = runOf('A', true)
  const { sweeps, said } = sweepsOver([agent])
  sweeps.start()
  await vi.advanceTimersByTimeAsync(59_000)
  expect(said).toEqual([])
  await vi.advanceTimersByTimeAsync(120_000)
  const quiet = { project_id: 'P', task_id: 'task of A', execution_id: 'A', text: 'Quiet' }
  expect(said).toEqual([{ ...quiet, quiet_since: '2026-11-21T12:00:00.000Z' }])
  agent.lastActivityAt = Date.now()
  agent.stalled = false
  await vi.advanceTimersByTimeAsync(120_000)
  expect(said).toHaveLength(2)
  await sweeps.close()
})

test('does not report an agent that waits for an answer, but may after it', async () => {
  const asks = ['Asks to run make']
  const agent = runOf('A', true, asks)
  const { sweeps, said } = sweepsOver([agent])
  sweeps.start()
  await vi.advanceTimersByTimeAsync(600_000)
  expect(said).toEqual([])
  asks.pop()
  agent.lastActivityAt = Date.now()
  await vi.advanceTimersByTimeAsync(90_000)
  expect(said).toMatchObject([{ text: 'Quiet' }])
  await sweeps.close()
})

test('expects nothing of a run that has not started', async () => {
  const { sweeps, said } = sweepsOver([runOf('A', false)])
  sweeps.start()
  await vi.advanceTimersByTimeAsync(600_000)
  expect(said).toEqual([])
  await sweeps.close()
})

test('gives agents the whole time again after the machine slept', async () => {
  const agent = runOf('A', true)
  const { sweeps, said } = sweepsOver([agent])
  sweeps.start()
  await vi.advanceTimersByTimeAsync(30_000)
  vi.setSystemTime(Date.now() + 8 * 3_600_000)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(said).toEqual([])
  await vi.advanceTimersByTimeAsync(30_000)
  expect(said).toMatchObject([{ text: 'Quiet', quiet_since: '2026-11-21T12:00:00.000Z' }])
  await sweeps.close()
})

test('reports a stalled agent although the clock was set back', async () => {
  const { sweeps, said } = sweepsOver([runOf('A', true)])
  sweeps.start()
  vi.setSystemTime(Date.now() - 8 * 3_600_000)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(said).toEqual([])
  await vi.advanceTimersByTimeAsync(30_000)
  expect(said).toHaveLength(1)
  await sweeps.close()
})

test('completes an unsupervised local run as lost, and wakes idle tasks with pending steps', async () => {
  const said: string[] = []
  const record = (id: string, more: object) => ({
    id,
    task_id: `task of ${id}`,
    project_id: 'P',
    status: 'running',
    ...more,
  })
  const records = [
    record('followed', { executor: 'command' }),
    record('forgotten', { executor: 'command', pid: 7, pid_started: '1' }),
    record('person', { executor: 'person' }),
    record('elsewhere', { executor: 'external', last_heartbeat_at: new Date().toISOString() }),
  ]
  const effects = { idle: {}, busy: {}, held: { blocked: true }, broken: {} } as Record<string, object>
  const context = {
    clock: { now: () => Date.now() },
    store: {
      shrink: () => false,
      read: {
        executions: {
          open: () => records,
          queue: () => records,
          get: (id: string) => records.find((one) => one.id === id),
        },
        projects: { deleted: () => [], get: () => null },
        tasks: { get: (id: string) => ({ id, error_annotation: id === 'broken' ? { type: 'hook_failed' } : null }) },
        workspaces: { byTask: () => null },
        effects: { pendingTasks: () => Object.keys(effects), first: (id: string) => ({ data: effects[id] }) },
        pendingHooks: { pendingTasks: () => ['hooked'] },
      },
    },
    places: {
      of: () => ({
        runs: {
          location: (executor: string) => (executor === 'external' ? 'remote' : 'local'),
          reap: (process: { pid: number } | null, id: string) =>
            Promise.resolve(said.push(`reap ${id} ${process?.pid ?? ''}`)),
        },
      }),
    },
    agentTokens: { revoke: (id: string) => said.push(`revoke ${id}`) },
    feed: { commit: () => said.push('mark lost') },
    log: { error: () => undefined, warn: () => undefined },
  }
  const nothing = { sweep: () => Promise.resolve() }
  const sweeps = createSweeps({
    ...({ context, hookQueue: { wake: (id: string) => said.push(`hooks ${id}`) } } as unknown as SweepParts),
    attachments: nothing,
    cleanup: nothing,
    rescues: nothing,
    executions: { running: () => new Map([['followed', runOf('followed', false)]]) as never },
    remoteRuns: { sweep: () => undefined },
    worker: { isIdle: (id) => id !== 'busy', wake: (id) => said.push(`wake ${id}`) },
    onSlotFreed: () => said.push('queue'),
  })
  sweeps.start()
  await vi.advanceTimersByTimeAsync(0)
  expect(said).toEqual([
    ...['wake idle', 'hooks hooked', 'queue'],
    ...['reap forgotten 7', 'revoke forgotten', 'mark lost', 'hooks task of forgotten', 'queue'],
  ])
  await sweeps.close()
})
