import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { openDatabase } from '../../../src-main/store/database.ts'
import { earlierMigrations, insert } from './earlier-migrations.ts'
import { at, migrations, openStore, temporaryFolder, type OpenStore } from './open-store.ts'

const found = (open: OpenStore, q: string) => open.titles({ q })

test.each([
  ['überprüfung', 'Überprüfung der Größe'],
  ['uberprufung', 'Überprüfung der Größe'],
  ['GROSSE über', 'Überprüfung der Größe'],
  ['größe', 'Die GROSSE Frage'],
  ['ﾃﾞｰﾀ', 'データの移行'],
  ['移行', 'データの移行'],
  ['ー', 'データの移行'],
  ['ｆｕｌｌ', 'Full width'],
  ['width full', 'Full width'],
  ['검색', '한국어 검색을 고치기'],
  ['ภาษา', 'แก้ภาษาไทย'],
  ['naive cafe', 'Naïve café'],
  ['web開', 'Web開発'],
  ['foo:bar', 'Parse foo:bar and "baz" (qux)'],
  ['"baz" AND (qux', 'Parse foo:bar and "baz" (qux)'],
  ['NEAR(foo bar)', null],
  ['foo OR nothing', null],
  ['-foo', 'Parse foo:bar and "baz" (qux)'],
  ['ba*', 'Parse foo:bar and "baz" (qux)'],
  ['arse', null],
  ['🐛', 'A 🐛 in it'],
])('finds with %s the tasks %s', async (q, title) => {
  await using open = await openStore()
  const titles = [
    ...['Überprüfung der Größe', 'Die GROSSE Frage', 'データの移行', 'Full width', '한국어 검색을 고치기', 'แก้ภาษาไทย'],
    ...['Naïve café', 'Web開発', 'Parse foo:bar and "baz" (qux)', 'A 🐛 in it'],
  ]
  for (const one of titles) open.task({ title: one })
  if (title === null) expect(found(open, q)).toEqual([])
  else expect(found(open, q)).toContain(title)
})

test('finds words in title or description, each anywhere', async () => {
  await using open = await openStore()
  open.task({ title: 'Login', description: 'The form forgets the password' })
  open.task({ title: 'Password rules' })
  expect(found(open, 'pass')).toEqual(['Login', 'Password rules'])
  expect(found(open, 'password login')).toEqual(['Login'])
})

test('finds changed tasks by their new words only, and deleted ones not at all', async () => {
  await using open = await openStore()
  const task = open.task({ title: 'Otter', description: 'A beaver' })
  open.store.write((q) => q.tasks.put({ ...task, status: 'todo' }))
  expect(found(open, 'otter')).toEqual(['Otter'])
  open.store.write((q) => q.tasks.put({ ...task, title: 'Heron' }))
  expect([found(open, 'otter'), found(open, 'heron beaver')]).toEqual([[], ['Heron']])
  open.store.write((q) => q.tasks.delete(task.id))
  expect(found(open, 'heron')).toEqual([])
  open.database.db.$client.exec(`INSERT INTO task_text (task_text, rank) VALUES ('integrity-check', 1)`)
})

test('pages through a search', async () => {
  await using open = await openStore()
  const all = Array.from({ length: 7 }, (_, index) => open.task({ title: index % 2 === 0 ? 'otter' : 'heron' }))
  const otters = all.filter(({ title }) => title === 'otter')
  const filter = { q: 'ott', limit: 2, project_id: open.project_id }
  const base = { status: null, label: null, assignee: null, parent_id: null, include_archived: false }
  const first = open.store.read.tasks.list({ ...base, ...filter, after: null })
  const after = first.at(-1)
  const second = open.store.read.tasks.list({ ...base, ...filter, after: after ?? null })
  expect([...first, ...second].map(({ id }) => id)).toEqual(otters.map(({ id }) => id))
})

test('removes the words of a deleted task from the file', async () => {
  await using open = await openStore()
  const secret = 'zzsecretzz'
  const task = open.task({ title: secret, description: secret })
  open.store.write((q) => q.tasks.delete(task.id))
  const { $client } = open.database.db
  $client.pragma('wal_checkpoint(TRUNCATE)')
  expect(await readFile(open.file, 'latin1')).not.toContain(secret)
})

test('finds tasks from before the index, and sums earlier usage', async () => {
  await using folder = await temporaryFolder()
  const file = `${folder.path}/copse.db`
  const before = await openDatabase(file, await earlierMigrations(folder.path, 11))
  const client = before.db.$client
  const project = { id: 'P', name: 'P', workflow_definition: '', settings: '{}', created_at: at, updated_at: at }
  insert(client, 'projects', project)
  insert(client, 'tasks', {
    id: 'T',
    project_id: 'P',
    repo_id: 'R',
    title: 'Überprüfung',
    description: null,
    status: 'todo',
    version: 1,
    entry_barrier: 0,
    review_config: '{}',
    roles: '{}',
    labels: '[]',
    priority: 0,
    position: 1,
    archived: 0,
    created_at: at,
    updated_at: at,
  })
  const execution = { task_id: 'T', project_id: 'P', role: 'coder', executor: 'command', status: 'succeeded' }
  const rest = { dispatched: 1, prompt: '', overrides: '{}', created_at: at, agent_id: 'A' }
  const usage = (cost_usd: number | null) => JSON.stringify({ input_tokens: 3, output_tokens: 4, cost_usd })
  insert(client, 'executions', { id: 'E1', ...execution, ...rest, usage: usage(0.5) })
  insert(client, 'executions', { id: 'E2', ...execution, ...rest, usage: usage(null) })
  before.close()
  const after = await openDatabase(file, migrations)
  const number = after.db.$client.prepare(`SELECT rowid FROM task_text WHERE task_text MATCH '"uberp"*'`).pluck().get()
  expect(number).toBe(1)
  expect(
    after.db.$client.prepare('SELECT kind, key, executions, input_tokens, costs, cost_usd FROM usage_sums').all(),
  ).toEqual([
    { kind: 'agent', key: 'A', executions: 2, input_tokens: 6, costs: 1, cost_usd: 0.5 },
    { kind: 'task', key: 'T', executions: 2, input_tokens: 6, costs: 1, cost_usd: 0.5 },
  ])
  after.close()
})
