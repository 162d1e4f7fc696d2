import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { useAccounts } from '../../../../src-renderer/stores/people/accounts.ts'
import { useAgents } from '../../../../src-renderer/stores/agents/agents.ts'
import { useDaemons } from '../../../../src-renderer/stores/agents/daemons.ts'
import { useExecutions } from '../../../../src-renderer/stores/runs/executions.ts'
import { useProjects } from '../../../../src-renderer/stores/project/projects.ts'
import { onService, stubPage } from '../renderer-app.ts'
import { createKeyedStore } from '../../../../src-renderer/stores/base/entity-store.ts'

beforeEach(stubPage)
afterEach(() => vi.unstubAllGlobals())

interface Records {
  shown(): readonly { readonly id: string }[]
  put(item: object): void
  remove(id: string): void
  load(): Promise<void>
}

const kinds: readonly (readonly [string, () => Records])[] = [
  ['projects', () => records(useProjects(), (store) => [...store.items])],
  ['agents', () => records(useAgents(), (store) => [...store.items])],
  [
    'daemons',
    () => {
      const store = useDaemons()
      return {
        shown: () => store.items,
        put: (item) => store.put((item as { id: string }).id, item as never),
        remove: (id) => store.put(id, null),
        load: store.load,
      }
    },
  ],
]

function records<S extends { put(item: never): void; remove(id: string): void; load(): Promise<void> }>(
  store: S,
  shown: (store: S) => readonly { readonly id: string }[],
): Records {
  return {
    shown: () => shown(store),
    put: (item) => store.put(item as never),
    remove: (id) => store.remove(id),
    load: () => store.load(),
  }
}

const item = (id: string, name: string) => ({ id, name })

test.each(kinds)('prefers an event about %s to a list requested before it', async (_, use) => {
  const { promise, resolve } = Promise.withResolvers<unknown>()
  const store = onService(() => promise, use)
  const loading = store.load()
  store.put(item('made', 'Made meanwhile'))
  store.put(item('changed', 'New name'))
  store.put(item('gone', 'Gone meanwhile'))
  store.remove('gone')
  resolve({ items: [item('changed', 'Old name'), item('gone', 'Gone meanwhile'), item('there', 'There')] })
  await loading
  expect(store.shown().toSorted((a, b) => a.id.localeCompare(b.id))).toEqual([
    item('changed', 'New name'),
    item('made', 'Made meanwhile'),
    item('there', 'There'),
  ])
})

test.each(kinds)('removes %s that are missing in a new list', async (_, use) => {
  const store = onService(() => ({ items: [item('there', 'There')] }), use)
  store.put(item('past', 'Past'))
  await store.load()
  expect(store.shown()).toEqual([item('there', 'There')])
})

test('reloads members after someone joined or left during the request', async () => {
  const answers = [[member('ada')], [member('ada'), member('grace')]]
  const first = Promise.withResolvers<void>()
  const accounts = onService(async () => {
    const items = answers.shift()
    if (answers.length === 1) await first.promise
    return { items }
  }, useAccounts)
  const loading = accounts.loadMembers('p')
  accounts.putMember({ project_id: 'p', user_id: 'grace', member: member('grace') } as never)
  first.resolve()
  await loading
  expect(accounts.membersOf('p')?.map(({ user_id }) => user_id)).toEqual(['ada', 'grace'])
})

const member = (user_id: string) => ({ project_id: 'p', user_id, role: 'member', display_name: user_id })

test('keeps a run ended that ended during the request', async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>()
  const executions = onService(() => promise, useExecutions)
  const run = { id: 'e', task_id: 't', status: 'running', created_at: '1', finished_at: null }
  executions.put(run as never)
  const asking = executions.fetch('e')
  executions.put({ ...run, status: 'succeeded', finished_at: '2' } as never)
  resolve(run)
  await asking
  expect(executions.byTask('t').map(({ status }) => status)).toEqual(['succeeded'])
})

test('reloads settings and workflow that were changed elsewhere, if known', async () => {
  const asked: string[] = []
  const projects = onService((name, { project_id }) => {
    asked.push(`${name} ${String(project_id)}`)
    return { auto_merge: asked.length > 1 }
  }, useProjects)
  const project = (id: string, updated_at: string, workflow_definition = 'one') =>
    ({ id, name: id, updated_at, workflow_definition }) as never
  projects.put(project('p', '1'))
  projects.put(project('q', '1'))
  await projects.loadSettings('p')
  expect(projects.settings('p')).toEqual({ auto_merge: false })
  projects.put(project('p', '1'))
  projects.put(project('p', '2'))
  projects.put(project('q', '2', 'two'))
  await vi.waitFor(() => expect(projects.settings('p')).toEqual({ auto_merge: true }))
  expect(asked).toEqual(['projects.get_settings p', 'projects.get_settings p', 'projects.get_workflow q'])
})

test('prefers settings from an event after the change to the change’s answer', async () => {
  const sent = Promise.withResolvers<unknown>()
  const projects = onService(
    (name) => (name === 'projects.update_settings' ? sent.promise : { auto_merge: true }),
    useProjects,
  )
  const saving = projects.updateSettings({ project_id: 'p' } as never)
  await projects.loadSettings('p')
  sent.resolve({ auto_merge: false })
  await saving
  expect(projects.settings('p')).toEqual({ auto_merge: true })
})

test('keeps settings that were saved during a request', async () => {
  const asked = Promise.withResolvers<unknown>()
  const projects = onService(
    (name) => (name === 'projects.get_settings' ? asked.promise : { auto_merge: true }),
    useProjects,
  )
  const loading = projects.loadSettings('p')
  await projects.updateSettings({ project_id: 'p' } as never)
  asked.resolve({ auto_merge: false })
  await loading
  expect(projects.settings('p')).toEqual({ auto_merge: true })
})

/** A store, and answers that the test gives in any order. */
function answering() {
  const store = createKeyedStore<string>()
  const ask = (key: string) => {
    const { promise, resolve } = Promise.withResolvers<string>()
    return { taken: store.take(key, () => promise), resolve }
  }
  return { store, ask }
}

test('takes the answer to the latest request, in whatever order answers arrive', async () => {
  const { store, ask } = answering()
  const [first, second] = [ask('a'), ask('a')]
  second.resolve('second')
  expect(await second.taken).toBe(true)
  first.resolve('first')
  expect(await first.taken).toBe(false)
  expect(store.byKey.get('a')).toBe('second')
})

test('takes the answer to a later request although an earlier one came in between', async () => {
  const { store, ask } = answering()
  const [first, second] = [ask('a'), ask('a')]
  first.resolve('first')
  expect(await first.taken).toBe(true)
  second.resolve('second')
  expect(await second.taken).toBe(true)
  expect(store.byKey.get('a')).toBe('second')
})

test('prefers an update during a request to its answer, for that key only', async () => {
  const { store, ask } = answering()
  store.put('b', 'told before')
  const [a, b, c] = [ask('a'), ask('b'), ask('c')]
  store.put('a', 'told')
  store.touch('c')
  for (const one of [a, b, c]) one.resolve('answer')
  expect(await Promise.all([a.taken, b.taken, c.taken])).toEqual([false, true, false])
  expect([...store.byKey]).toEqual([
    ['b', 'answer'],
    ['a', 'told'],
  ])
})
