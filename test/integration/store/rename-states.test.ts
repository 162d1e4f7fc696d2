import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anotherProject, openStore, type OpenStore } from './open-store.ts'
import { transitionRecord } from './transition-record.ts'

/** Another project with one task in each of the states. */
function neighbour(open: OpenStore, states: readonly string[]) {
  const project_id = anotherProject(open)
  return states.map((status) => open.task({ project_id, status }))
}

const statusOf = (open: OpenStore, id: never) => open.store.read.tasks.get(id)?.status

test('renames swapped and chained states at once, in archived tasks too', async () => {
  await using open = await openStore()
  const states = ['a', 'b', 'c', 'd', 'e', 'f']
  const tasks = states.map((status, index) => open.task({ status, archived: index % 2 === 1 }))
  const others = neighbour(open, states)
  // a and b swap; c becomes d, d becomes e; e keeps its name; f is not named.
  const names = new Map(Object.entries({ a: 'b', b: 'a', c: 'd', d: 'x', e: 'e' }))
  const changed = open.store.write((q) => q.tasks.renameStatuses(open.project_id, names))
  expect(tasks.map((task) => statusOf(open, task.id as never))).toEqual(['b', 'a', 'd', 'x', 'e', 'f'])
  expect([...changed].sort()).toEqual(
    tasks
      .slice(0, 4)
      .map((task) => task.id)
      .sort(),
  )
  expect(others.map((task) => statusOf(open, task.id as never))).toEqual(states)
  expect(open.store.read.tasks.idsInStatus(open.project_id, 'b')).toEqual([tasks[0]?.id])
  // Nothing else of a task changed.
  expect(open.store.read.tasks.get(tasks[0]?.id as never)).toEqual({ ...tasks[0], status: 'b' })
})

test('renames nothing without names', async () => {
  await using open = await openStore()
  const task = open.task({ status: 'a' })
  const entry = transitionRecord(task.id)
  const same = new Map([['a', 'a']])
  open.store.write((q) => {
    q.transitions.put(entry)
    expect(q.tasks.renameStatuses(open.project_id, new Map())).toEqual([])
    expect(q.tasks.renameStatuses(open.project_id, same)).toEqual([])
    q.transitions.renameStates(open.project_id, new Map())
    q.transitions.renameStates(open.project_id, new Map([['review', 'review']]))
  })
  expect(open.store.read.transitions.last(task.id)).toEqual(entry)
})

test('renames both ends of audit entries, and keeps counting rejections', async () => {
  await using open = await openStore()
  const [task, archived] = [open.task().id, open.task({ archived: true }).id]
  const [other] = neighbour(open, ['review'])
  if (!other) throw new Error('No neighbour.')
  open.store.write((q) => {
    for (const id of [task, archived, other.id]) {
      q.transitions.put(transitionRecord(id, { rejection: true, hooks: [] }))
      q.transitions.put(transitionRecord(id, { from_state: 'in_progress', to_state: 'review' }))
      q.transitions.put(transitionRecord(id, { from_state: 'todo', to_state: 'in_progress' }))
      q.transitions.put(transitionRecord(id, { from_state: 'done', to_state: 'todo' }))
    }
    const names = new Map(Object.entries({ review: 'in_progress', in_progress: 'review', todo: 'ready' }))
    q.transitions.renameStates(open.project_id, names)
  })
  const { transitions } = open.store.read
  const ends = (id: typeof task) => transitions.byTask(id).map((one) => `${one.from_state}→${one.to_state}`)
  const expected = ['in_progress→review', 'review→in_progress', 'ready→review', 'done→ready']
  expect([ends(task), ends(archived)]).toEqual([expected, expected])
  expect(ends(other.id)).toEqual(['review→in_progress', 'in_progress→review', 'todo→in_progress', 'done→todo'])
  expect(transitions.rejectionsByGate(task, null)).toEqual(new Map([['in_progress', 1]]))
})

test('renames the maximum number of states in a ring', async () => {
  await using open = await openStore()
  const states = Array.from({ length: 1_000 }, (_, index) => `state ${index} 'quoted' "twice" 🧭`)
  const next = (index: number) => states[(index + 1) % states.length] ?? ''
  const tasks = [0, 1, 500, 999].map((index) => [index, open.task({ status: states[index] ?? '' })] as const)
  const names = new Map(states.map((state, index) => [state, next(index)]))
  open.store.write((q) => {
    for (const [index, task] of tasks) {
      q.transitions.put(transitionRecord(task.id, { from_state: states[index] ?? '', to_state: next(index) }))
    }
    q.transitions.renameStates(open.project_id, names)
    expect(q.tasks.renameStatuses(open.project_id, names)).toHaveLength(tasks.length)
  })
  for (const [index, task] of tasks) {
    expect(statusOf(open, task.id as never)).toBe(next(index))
    expect(open.store.read.transitions.last(task.id)).toMatchObject({
      from_state: next(index),
      to_state: next(index + 1),
    })
  }
})

test('renames like the same renaming of a list', async () => {
  await using open = await openStore()
  const names = ['a', 'b', 'c', 'd', '']
  const tasks = names.map((status) => open.task({ status }))
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom(...names), fc.constantFrom(...names))), (pairs) => {
      const before = tasks.map((task) => statusOf(open, task.id as never) ?? '')
      const renaming = new Map(pairs)
      const changed = open.store.write((q) => q.tasks.renameStatuses(open.project_id, renaming))
      const expected = before.map((status) => renaming.get(status) ?? status)
      expect(tasks.map((task) => statusOf(open, task.id as never))).toEqual(expected)
      const moved = tasks.filter((_, index) => before[index] !== expected[index]).map((task) => task.id)
      expect([...changed].sort()).toEqual(moved.sort())
      // Merged names could never be separated again.
      open.store.write((q) => {
        for (const [index, task] of tasks.entries()) q.tasks.put({ ...task, status: names[index] ?? '' })
      })
    }),
  )
})
