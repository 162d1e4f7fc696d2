import fc from 'fast-check'
import { expect, test } from 'vitest'
import { portBases, portsFrom } from '../../../src-main/workspaces/rules/port-ranges.ts'
import type { Ground } from '../../../src-main/core/ground.ts'
import { assignPorts } from '../../../src-main/workspaces/port-ranges.ts'
import type { TaskRecord } from '../../../src-main/ports/task-queries.ts'
import type { WorkspaceRecord } from '../../../src-main/ports/workspace-queries.ts'

interface World {
  /** Ports that other programs use. */
  readonly busy: ReadonlySet<number>
  /** Waits before it tries ports, so that choices overlap in time. */
  readonly before?: () => Promise<void>
}

function createWorld({ busy, before = () => Promise.resolve() }: World) {
  const records = new Map<string, WorkspaceRecord>()
  const tried: number[] = []
  const warned: string[] = []
  const queries = {
    workspaces: {
      byTask: (task_id: string) => records.get(task_id) ?? null,
      put: (record: WorkspaceRecord) => records.set(record.task_id, record),
      portBases: () => new Set([...records.values()].map((one) => one.port_base).filter((one) => one !== null)),
    },
    tasks: { children: () => [], get: () => null },
    emit: () => undefined,
  }
  const context = {
    store: { read: queries },
    feed: { commit: <T>(work: (tx: typeof queries) => T) => work(queries) },
    places: {
      of: () => ({
        ports: {
          arePortsFree: async (ports: readonly number[]) => {
            tried.push(...ports)
            await before()
            return !ports.some((port) => busy.has(port))
          },
        },
      }),
    },
    log: { warn: (_data: object, message: string) => warned.push(message) },
  } as unknown as Ground
  const take = (id: string, port_base: number | null = null) => {
    const record = { id: `of ${id}`, task_id: id, status: 'creating', port_base } as WorkspaceRecord
    return assignPorts(context, { id, project_id: 'P' } as TaskRecord, record)
  }
  return { take, records, tried, warned }
}

test('gives no port to two worktrees or one in use, however choices overlap', async () => {
  const id = fc.integer({ min: 0, max: 60 }).map((index) => index.toString(16))
  const ids = fc.uniqueArray(id, { minLength: 1, maxLength: 30 })
  const busyPorts = fc.uniqueArray(fc.integer({ min: 20_000, max: 20_600 }), { maxLength: 60 })
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), ids, busyPorts, async (s, tasks, others) => {
      const busy = new Set(others)
      const { take, records } = createWorld({ busy, before: () => s.schedule(Promise.resolve()) })
      const taken = Promise.all(tasks.map((id) => take(id)))
      await s.waitFor(taken)
      const ports = (await taken).flatMap((record) => portsFrom(record.port_base ?? Number.NaN))
      expect(new Set(ports).size).toBe(tasks.length * 10)
      expect(ports.filter((port) => Number.isNaN(port) || busy.has(port))).toEqual([])
      expect([...records.values()].map((one) => one.task_id).toSorted()).toEqual(tasks.toSorted())
    }),
    { numRuns: 100 },
  )
})

test('keeps a worktree’s ports, whoever uses them', async () => {
  const { take, tried } = createWorld({ busy: new Set(portsFrom(20_000)) })
  expect(await take('0', 20_000)).toMatchObject({ port_base: 20_000 })
  expect(tried).toEqual([])
})

test('gives no ports when every range is in use, and logs that', async () => {
  const { take, records, warned } = createWorld({ busy: new Set([...portBases('0')].map((base) => base + 9)) })
  expect(await take('0')).toMatchObject({ port_base: null })
  expect(records.size).toBe(0)
  expect(warned).toEqual(['no range of ports is free, a worktree goes without'])
})
