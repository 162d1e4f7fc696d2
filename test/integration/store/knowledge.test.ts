import { v7 } from 'uuid'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { KnowledgePage, KnowledgeRecord } from '../../../src-main/engine/store-port.ts'
import type { KnowledgeId, ProjectId } from '../../../src-shared/contract/ids.ts'
import { executionRecord } from './execution-record.ts'
import { at, openStore, type OpenStore } from './open-store.ts'

/** Writes an entry with these fields. */
function note(open: OpenStore, more: Partial<KnowledgeRecord> = {}): KnowledgeRecord {
  const record: KnowledgeRecord = {
    id: v7() as KnowledgeId,
    project_id: open.project_id,
    title: 'Title',
    body: 'Body',
    source: { by: 'system', task_id: null, execution_id: null },
    created_at: at,
    updated_at: at,
    ...more,
  }
  put(open, record)
  return record
}

function put(open: OpenStore, record: KnowledgeRecord): void {
  open.store.write((q) => {
    q.knowledge.put(record)
  })
}

function search(open: OpenStore, text: string, page: { offset?: number; limit?: number } = {}): string[] {
  const { offset = 0, limit = 10 } = page
  return open.store.read.knowledge.search(open.project_id, text, { offset, limit }).map((entry) => entry.title)
}

function anotherProject(open: OpenStore): ProjectId {
  const id = v7() as ProjectId
  const own = open.store.read.projects.get(open.project_id)
  if (!own) throw new Error('The project is gone.')
  open.store.write((q) => q.projects.put({ ...own, id }))
  return id
}

/** Asks FTS5 itself whether what it holds is what the table holds; throws when not. */
function checkIndex(open: OpenStore): void {
  open.database.db.$client.exec(`INSERT INTO knowledge_text (knowledge_text, rank) VALUES ('integrity-check', 1)`)
}

test('any shared word finds an entry, the most relevant first, whatever its case, accents or ending', async () => {
  await using open = await openStore()
  note(open, { title: 'Ports', body: 'The tests need a free port for each server.' })
  note(open, { title: 'Migrations', body: 'A migration is frozen. Run the café_test after each migration.' })
  note(open, { title: 'Style', body: 'Names say what a thing is. See the migration guide for how names changed.' })
  expect(search(open, 'how do MIGRATIONS work?')).toEqual(['Migrations', 'Style'])
  expect(search(open, 'cafe')).toEqual(['Migrations'])
  expect(search(open, 'servers')).toEqual(['Ports'])
  // Every text has such words: they find something only where there are no others.
  expect(search(open, 'nothing of the kind')).toEqual([])
  expect(search(open, 'what is')).toEqual(['Style', 'Migrations'])
  expect(search(open, 'zebra')).toEqual([])
  // A title says what an entry is about.
  note(open, { title: 'Zebra', body: 'Stripes' })
  note(open, { title: 'Stripes', body: 'Zebra' })
  expect(search(open, 'zebra')).toEqual(['Zebra', 'Stripes'])
})

test('what is edited is found by its new words, what is deleted no more', async () => {
  await using open = await openStore()
  const entry = note(open, { title: 'Walnut', body: 'Oak' })
  put(open, { ...entry, title: 'Birch', body: 'Oak', updated_at: '2026-11-21T09:31:00.000Z' })
  expect([search(open, 'walnut'), search(open, 'birch')]).toEqual([[], ['Birch']])
  put(open, { ...entry, title: 'Birch', body: 'Elm' })
  expect([search(open, 'oak'), search(open, 'elm')]).toEqual([[], ['Birch']])
  expect(open.store.read.knowledge.get(entry.id)).toEqual({ ...entry, title: 'Birch', body: 'Elm' })
  checkIndex(open)
  open.store.write((q) => {
    q.knowledge.delete(entry.id)
  })
  expect([search(open, 'elm birch'), open.store.read.knowledge.get(entry.id)]).toEqual([[], null])
  checkIndex(open)
})

test('a search that was rolled back finds nothing of it', async () => {
  await using open = await openStore()
  const entry = note(open, { title: 'Kept', body: 'heron' })
  expect(() =>
    open.store.write((q) => {
      q.knowledge.put({ ...entry, body: 'egret' })
      q.knowledge.put({ ...entry, id: v7() as KnowledgeId, title: 'New', body: 'egret' })
      throw new Error('no')
    }),
  ).toThrow('no')
  expect([search(open, 'egret'), search(open, 'heron')]).toEqual([[], ['Kept']])
  checkIndex(open)
})

test('a project knows its own entries only, and loses them with itself', async () => {
  await using open = await openStore()
  const other = anotherProject(open)
  note(open, { title: 'Here', body: 'otter' })
  note(open, { title: 'There', body: 'otter', project_id: other })
  expect(search(open, 'otter')).toEqual(['Here'])
  open.store.write((q) => q.projects.delete(other))
  expect(open.store.read.knowledge.search(other, 'otter', { offset: 0, limit: 5 })).toEqual([])
  expect(search(open, 'otter')).toEqual(['Here'])
  checkIndex(open)
})

test('the words of a search are words, never operators', async () => {
  await using open = await openStore()
  note(open, { title: 'Plain', body: 'body alpha' })
  note(open, { title: 'Other', body: 'beta' })
  const hostile = [
    ...['alpha"', '"alpha', 'alpha NOT plain', 'alpha AND zzz', 'NEAR(alpha zzz)', 'title:alpha', '-alpha', '^alpha'],
    ...[
      '{body} : alpha',
      '(alpha',
      'alpha)',
      "alpha'; DROP TABLE knowledge; --",
      'alpha\u0000x',
      '🧭alpha🧭',
      'al\u0301pha alpha',
    ],
    ...['\ud800alpha', 'alpha\\', 'alpha+zzz', '+alpha', 'ALPHA', '%alpha%'],
  ]
  for (const text of hostile) expect(search(open, text), text).toContain('Plain')
  for (const text of ['', ' ', '"', '""', '*', '🧭', '()', 'OR', 'NOT', '\u0000', '\u0301', '\ud800', '_', '-']) {
    expect(search(open, text), text).toEqual([])
  }
  // Part of a word is no word, with a star neither.
  expect([search(open, 'alph'), search(open, 'alph*')]).toEqual([[], []])
})

test('no text breaks a search or an entry', async () => {
  await using open = await openStore()
  const anything = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.string({ unit: 'grapheme', maxLength: 200 }),
    fc
      .array(
        fc.constantFrom(
          '"',
          "'",
          '*',
          '(',
          ')',
          ':',
          '^',
          '-',
          '+',
          '{',
          '}',
          ' AND ',
          ' OR ',
          ' NOT ',
          'NEAR',
          'a',
          '\\',
          '🧭',
          '\u0000',
          '\ud83e',
        ),
      )
      .map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(anything, anything, (body, text) => {
      const entry = note(open, { title: 'beacon', body })
      expect(search(open, `${text} beacon`)).toEqual(['beacon'])
      search(open, text)
      open.store.write((q) => {
        q.knowledge.delete(entry.id)
      })
    }),
    { numRuns: 300 },
  )
  checkIndex(open)
})

test('every word of an entry finds it', async () => {
  await using open = await openStore()
  fc.assert(
    fc.property(fc.stringMatching(/^[\p{Ll}\p{Nd}]{1,20}$/u), (word) => {
      const entry = note(open, { title: 'T', body: `... ${word}, "${word}"` })
      expect(search(open, `(${word})`)).toEqual(['T'])
      open.store.write((q) => {
        q.knowledge.delete(entry.id)
      })
    }),
  )
})

test('a search by 100 KB of text is answered from its first words', async () => {
  await using open = await openStore()
  note(open, { title: 'Found', body: 'kingfisher' })
  const words = Array.from({ length: 20_000 }, (_, index) => `w${index}`).join(' ')
  expect(words.length).toBeGreaterThan(100_000)
  expect(search(open, `kingfisher ${words}`)).toEqual(['Found'])
  expect(search(open, 'x'.repeat(100_000))).toEqual([])
  expect(search(open, `${'"'.repeat(100_000)}kingfisher`)).toEqual(['Found'])
  expect(search(open, `${'x'.repeat(100_000)} kingfisher`)).toEqual(['Found'])
  expect(search(open, `${'the same again '.repeat(10_000)} kingfisher`)).toEqual(['Found'])
})

test('pages of a search follow each other, equally relevant entries newest first', async () => {
  await using open = await openStore()
  for (let index = 0; index < 7; index += 1) {
    note(open, {
      title: `Entry ${index}`,
      body: 'plover',
      created_at: `2026-11-21T09:30:0${Math.floor(index / 2)}.000Z`,
    })
  }
  const all = search(open, 'plover')
  expect(all).toEqual([6, 5, 4, 3, 2, 1, 0].map((index) => `Entry ${index}`))
  const pages = [0, 3, 6, 9].flatMap((offset) => search(open, 'plover', { offset, limit: 3 }))
  expect(pages).toEqual(all)
})

test('a list shows every entry once, newest first, also where many came in one moment', async () => {
  await using open = await openStore()
  const time = (index: number) => `2026-11-21T09:30:00.00${Math.floor(index / 6)}Z`
  const entries = Array.from({ length: 20 }, (_, index) => note(open, { created_at: time(index) }))
  note(open, { project_id: anotherProject(open) })
  const seen: KnowledgeRecord[] = []
  let after: KnowledgePage['after'] = null
  for (;;) {
    const page = open.store.read.knowledge.list(open.project_id, { after, limit: 4 })
    seen.push(...page)
    const last = page.at(-1)
    if (!last) break
    after = { created_at: last.created_at, id: last.id }
  }
  expect(seen).toEqual(entries.toReversed())
})

test('what was captured from a task is found by it, before what an agent wrote down there', async () => {
  await using open = await openStore()
  const task = open.task().id
  const source = (by: string) => ({ by, task_id: task, execution_id: null })
  const { knowledge } = open.store.read
  expect(knowledge.bySourceTask(task)).toBeNull()
  const written = note(open, { source: source('agent:1') })
  expect(knowledge.bySourceTask(task)).toEqual(written)
  const captured = note(open, { source: source('system'), created_at: '2026-11-21T09:31:00.000Z' })
  expect(knowledge.bySourceTask(task)).toEqual(captured)
})

test('knowledge outlives the task and the execution that it comes from', async () => {
  await using open = await openStore()
  const task = open.task().id
  const execution = executionRecord(open, task, 'succeeded')
  open.store.write((q) => q.executions.put(execution))
  const entry = note(open, { title: 'Lasting', source: { by: 'system', task_id: task, execution_id: execution.id } })
  open.store.write((q) => q.tasks.delete(task))
  const kept = { ...entry, source: { by: 'system', task_id: null, execution_id: null } }
  expect(open.store.read.knowledge.get(entry.id)).toEqual(kept)
  expect(open.store.read.knowledge.bySourceTask(task)).toBeNull()
  expect(search(open, 'lasting')).toEqual(['Lasting'])
})

test('what the agents of a task are told is replaced, taken away, and goes with the task', async () => {
  await using open = await openStore()
  const [task, other] = [open.task().id, open.task().id]
  const { knowledge } = open.store.read
  const tell = (text: string | null) => {
    open.store.write((q) => {
      q.knowledge.setInjected(task, text)
    })
  }
  expect(knowledge.injected(task)).toBeNull()
  tell('First')
  tell('Second')
  expect([knowledge.injected(task), knowledge.injected(other)]).toEqual(['Second', null])
  tell('')
  expect(knowledge.injected(task)).toBe('')
  tell(null)
  expect(knowledge.injected(task)).toBeNull()
  tell('Again')
  open.store.write((q) => q.tasks.delete(task))
  expect(knowledge.injected(task)).toBeNull()
})
