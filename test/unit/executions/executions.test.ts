import { hereRunner } from '../../../src-shared/contract/runners.ts'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createLogger } from '../../../src-main/platform/logging/log.ts'
import { createDurableWrites } from '../../../src-main/core/durable-writes.ts'
import { createExecutions, type ExecutionsDeps } from '../../../src-main/executions/executions.ts'
import type { Activity } from '../../../src-shared/contract/events.ts'
import type { ExecutionOutcome, ExecutionRun } from '../../../src-main/ports/executors.ts'
import type { ExecutionRecord } from '../../../src-main/ports/execution-queries.ts'
import type { TaskRecord } from '../../../src-main/ports/task-queries.ts'
import type { ExecutionId, TaskId } from '../../../src-shared/contract/ids.ts'

const exited: ExecutionOutcome = {
  ended: 'exited',
  exit_code: 0,
  session_id: null,
  usage: null,
  conclusion: 'done',
  message: null,
}
const tasks: Readonly<Record<string, Partial<TaskRecord>>> = {
  parent: { parent_id: null, subtask_mode: null },
  child: { parent_id: 'parent' as TaskId, subtask_mode: 'ordered' },
  apart: { parent_id: 'parent' as TaskId, subtask_mode: 'independent' },
}
const nothing = () => undefined
const later = () => Promise.resolve(null)

/** Creates executions whose agents work until the test ends them; each is named after its task. */
function startAgents() {
  const ends = new Map<string, () => void>()
  const stopped: string[] = []
  const said: Activity[] = []
  const logs = new Map<string, ExecutionRun['log']>()
  const waiting = new Map(Object.keys(tasks).map((id) => [id, recordOf(id)]))
  const start = (_: unknown, { execution_id, log }: ExecutionRun) => {
    logs.set(execution_id, log)
    const { promise, resolve } = Promise.withResolvers<ExecutionOutcome>()
    const end = () => {
      // An unknown run needs no completion.
      waiting.delete(execution_id)
      resolve(exited)
    }
    ends.set(execution_id, end)
    const stop = () => {
      stopped.push(execution_id)
      end()
      return Promise.resolve()
    }
    return Promise.resolve({ process: { pid: 1, started: '1' }, outcome: promise, input: later, stop })
  }
  const read = {
    tasks: { get: (id: string) => (tasks[id] ? { id, held_to: null, ...tasks[id] } : null) },
    workspaces: { byTask: () => null },
    agents: { get: () => ({ executor: 'command', config: {}, daemon_id: null }) },
    executions: { get: (id: string) => waiting.get(id) ?? null, open: () => [], queue: () => [], byTask: () => [] },
    projects: { get: () => null },
    transitions: { last: () => null },
    knowledge: { injected: () => null },
    attachments: { ofTask: () => [] },
  }
  const context = {
    store: { read },
    log: createLogger({ level: 'silent' }),
    attachmentFiles: { copyInto: later },
    writes: createDurableWrites({ log: createLogger({ level: 'silent' }) }),
    feed: { commit: nothing, activity: (activity: Activity) => said.push(activity) },
    places: {
      of: () => ({
        locks: { lock: later, unlock: later },
        worktrees: { head: () => Promise.resolve('c0ffee'), exists: () => Promise.resolve(false) },
        runs: { location: () => 'local', start },
        containment: { effectiveLevel: () => 'none' },
      }),
    },
    logs: { openAgent: () => Promise.resolve({ close: later, raw: later }) },
    agentTokens: { mint: () => 'token', revoke: nothing },
    apiUrl: () => null,
    redactor: () => (text: string) => text,
    rememberSecrets: nothing,
    clock: { now: () => 0 },
  }
  const worktrees = {
    ensure: () => Promise.resolve({ kind: 'ready', workspace: { path: '/worktree' } }),
    environment: () => ({}),
  }
  const executions = createExecutions({
    context: context as unknown as ExecutionsDeps['context'],
    worktrees: worktrees as unknown as ExecutionsDeps['worktrees'],
    transitions: {} as ExecutionsDeps['transitions'],
    limits: { look: () => [] } as unknown as ExecutionsDeps['limits'],
    runs: new Map(),
    wake: nothing,
    onSlotFreed: nothing,
    onRunnerUnreachable: nothing,
  })
  const id = (name: string) => name as ExecutionId
  return {
    executions,
    stopped,
    said,
    /** The output of the agent. */
    print: (name: string) => logs.get(name)?.raw(new Uint8Array([46])),
    begin: (name: string) => executions.start(id(name), hereRunner),
    end: async (name: string) => {
      const run = executions.running().get(id(name))
      ends.get(name)?.()
      await run?.ended
      // The waiting caller has been notified by then.
      await setImmediate()
    },
    ended: (name: string) => executions.running().get(id(name))?.ended,
  }
}

function recordOf(id: string): ExecutionRecord {
  return {
    id,
    task_id: id,
    agent_id: 'A',
    executor: 'command',
    status: 'queued',
    prompt: '',
    overrides: { prompt: '' },
  } as never
}

const never = new AbortController().signal
const parent = 'parent' as TaskId

test('waits for every task at work in a worktree, also for a later one', async () => {
  const agents = startAgents()
  await Promise.all(['parent', 'apart'].map(agents.begin))
  let idle = false
  const waiting = agents.executions.waitUntilIdle(parent, 60_000, never).then(() => (idle = true))
  await agents.begin('child')
  await agents.end('parent')
  expect(idle).toBe(false)
  await agents.end('child')
  // A run in its own worktree blocks no other.
  await waiting
  expect([...agents.executions.running().keys()]).toEqual(['apart'])
  expect(agents.stopped).toEqual([])
})

test('stops after the limit the task’s own agent and no other', async () => {
  const agents = startAgents()
  await Promise.all(['parent', 'child'].map(agents.begin))
  let idle = false
  const waiting = agents.executions.waitUntilIdle(parent, 1, never).then(() => (idle = true))
  await agents.ended('parent')
  await setImmediate()
  expect([agents.stopped, idle]).toEqual([['parent'], false])
  await agents.end('child')
  await waiting
  expect(agents.stopped).toEqual(['parent'])
})

test('gives up on abort and then stops no one', async () => {
  const agents = startAgents()
  await Promise.all(['parent', 'child'].map(agents.begin))
  const stop = new AbortController()
  const waiting = agents.executions.waitUntilIdle(parent, 60_000, stop.signal)
  stop.abort()
  await waiting
  await agents.executions.waitUntilExclusive(parent, stop.signal)
  expect([...agents.executions.running().keys()]).toEqual(['parent', 'child'])
  expect(agents.stopped).toEqual([])
})

test('waits for others to leave the worktree, but not for the task’s own agent', async () => {
  const agents = startAgents()
  await Promise.all(['parent', 'child', 'apart'].map(agents.begin))
  let alone = false
  expect(agents.executions.isWorktreeShared(parent)).toBe(true)
  const waiting = agents.executions.waitUntilExclusive(parent, never).then(() => (alone = true))
  await agents.end('apart')
  expect(alone).toBe(false)
  await agents.end('child')
  await waiting
  expect(agents.executions.isWorktreeShared(parent)).toBe(false)
  expect([...agents.executions.running().keys()]).toEqual(['parent'])
})

test('reports once that a stalled agent is active again, whatever it prints', async () => {
  const agents = startAgents()
  await agents.begin('parent')
  await agents.print('parent')
  expect(agents.said).toEqual([])
  const run = agents.executions.running().get('parent' as ExecutionId)
  if (!run) throw new Error('It does not run.')
  run.stalled = true
  await agents.print('parent')
  await agents.print('parent')
  expect(agents.said).toMatchObject([{ task_id: 'parent', execution_id: 'parent', quiet_since: null }])
  await agents.end('parent')
})
