import { v7 } from 'uuid'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { KnowledgeId } from '../../../src-shared/contract/ids.ts'
import { checkIndex, putNote, searchNotes, writeNote } from './notes.ts'
import { openDatabase, type OpenDatabase } from '../../../src-main/store/database.ts'
import { migrations, openStore } from './open-store.ts'

test('finds entries by any shared word, the most relevant first, in any case or form', async () => {
  await using open = await openStore()
  writeNote(open, { title: 'Ports', body: 'The tests need a free port for each server.' })
  writeNote(open, { title: 'Migrations', body: 'A migration is frozen. Run the café_test after each migration.' })
  writeNote(open, { title: 'Style', body: 'Names say what a thing is. See the migration guide for how names changed.' })
  expect(searchNotes(open, 'how do MIGRATIONS work?')).toEqual(['Migrations', 'Style'])
  expect(searchNotes(open, 'cafe')).toEqual(['Migrations'])
  expect(searchNotes(open, 'servers')).toEqual(['Ports'])
  // Every text has such words, so they match only if there are no others.
  expect(searchNotes(open, 'nothing of the kind')).toEqual([])
  expect(searchNotes(open, 'what is')).toEqual(['Style', 'Migrations'])
  expect(searchNotes(open, 'zebra')).toEqual([])
  // A title says what an entry is about.
  writeNote(open, { title: 'Zebra', body: 'Stripes' })
  writeNote(open, { title: 'Stripes', body: 'Zebra' })
  expect(searchNotes(open, 'zebra')).toEqual(['Zebra', 'Stripes'])
})

test('finds edited entries by their new words, and deleted ones no more', async () => {
  await using open = await openStore()
  const entry = writeNote(open, { title: 'Walnut', body: 'Oak' })
  putNote(open, { ...entry, title: 'Birch', body: 'Oak', updated_at: '2026-11-21T09:31:00.000Z' })
  expect([searchNotes(open, 'walnut'), searchNotes(open, 'birch')]).toEqual([[], ['Birch']])
  putNote(open, { ...entry, title: 'Birch', body: 'Elm' })
  expect([searchNotes(open, 'oak'), searchNotes(open, 'elm')]).toEqual([[], ['Birch']])
  expect(open.store.read.knowledge.get(entry.id)).toEqual({ ...entry, title: 'Birch', body: 'Elm' })
  checkIndex(open)
  open.store.write((q) => {
    q.knowledge.delete(entry.id)
  })
  expect([searchNotes(open, 'elm birch'), open.store.read.knowledge.get(entry.id)]).toEqual([[], null])
  checkIndex(open)
})

/** The number of index blocks that contain a word, including ones marked as deleted. */
function blocksWith({ db }: OpenDatabase, word: string): number {
  const blocks = db.$client.prepare<[], Buffer>('SELECT block FROM knowledge_text_data').pluck().all()
  return blocks.filter((block) => block.includes(word)).length
}

test('removes edited and deleted words from the index, also from an older one at the start', async () => {
  await using open = await openStore()
  const { database, store } = open
  const entry = writeNote(open, { body: 'marmot' })
  expect(blocksWith(database, 'marmot')).toBe(1)
  putNote(open, { ...entry, body: 'ocelot' })
  expect([blocksWith(database, 'marmot'), blocksWith(database, 'ocelot')]).toEqual([0, 1])
  store.write((q) => q.knowledge.delete(entry.id))
  expect(blocksWith(database, 'ocelot')).toBe(0)
  database.db.$client.exec(`INSERT INTO knowledge_text (knowledge_text, rank) VALUES ('secure-delete', 0)`)
  const { id } = writeNote(open, { body: 'narwhal' })
  store.write((q) => q.knowledge.delete(id))
  expect(blocksWith(database, 'narwhal')).toBeGreaterThan(0)
  database.close()
  const again = await openDatabase(open.file, migrations)
  expect(blocksWith(again, 'narwhal')).toBe(0)
  again.close()
})

test('finds nothing of what was rolled back', async () => {
  await using open = await openStore()
  const entry = writeNote(open, { title: 'Kept', body: 'heron' })
  expect(() =>
    open.store.write((q) => {
      q.knowledge.put({ ...entry, body: 'egret' })
      q.knowledge.put({ ...entry, id: v7() as KnowledgeId, title: 'New', body: 'egret' })
      throw new Error('no')
    }),
  ).toThrow('no')
  expect([searchNotes(open, 'egret'), searchNotes(open, 'heron')]).toEqual([[], ['Kept']])
  checkIndex(open)
})

test('takes words of a search for words, never operators', async () => {
  await using open = await openStore()
  writeNote(open, { title: 'Plain', body: 'body alpha' })
  writeNote(open, { title: 'Other', body: 'beta' })
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
  for (const text of hostile) expect(searchNotes(open, text), text).toContain('Plain')
  for (const text of ['', ' ', '"', '""', '*', '🧭', '()', 'OR', 'NOT', '\u0000', '\u0301', '\ud800', '_', '-']) {
    expect(searchNotes(open, text), text).toEqual([])
  }
  // A part of a word does not match, even with a star.
  expect([searchNotes(open, 'alph'), searchNotes(open, 'alph*')]).toEqual([[], []])
})

test('accepts any text as search or entry', async () => {
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
      const entry = writeNote(open, { title: 'beacon', body })
      expect(searchNotes(open, `${text} beacon`)).toEqual(['beacon'])
      searchNotes(open, text)
      open.store.write((q) => {
        q.knowledge.delete(entry.id)
      })
    }),
    { numRuns: 300 },
  )
  checkIndex(open)
})

test('finds an entry by each of its words', async () => {
  await using open = await openStore()
  fc.assert(
    fc.property(fc.stringMatching(/^[\p{Ll}\p{Nd}]{1,20}$/u), (word) => {
      const entry = writeNote(open, { title: 'T', body: `... ${word}, "${word}"` })
      expect(searchNotes(open, `(${word})`)).toEqual(['T'])
      open.store.write((q) => {
        q.knowledge.delete(entry.id)
      })
    }),
  )
})

test('answers a search of 100 KB by its first words', async () => {
  await using open = await openStore()
  writeNote(open, { title: 'Found', body: 'kingfisher' })
  const words = Array.from({ length: 20_000 }, (_, index) => `w${index}`).join(' ')
  expect(words.length).toBeGreaterThan(100_000)
  expect(searchNotes(open, `kingfisher ${words}`)).toEqual(['Found'])
  expect(searchNotes(open, 'x'.repeat(100_000))).toEqual([])
  expect(searchNotes(open, `${'"'.repeat(100_000)}kingfisher`)).toEqual(['Found'])
  expect(searchNotes(open, `${'x'.repeat(100_000)} kingfisher`)).toEqual(['Found'])
  expect(searchNotes(open, `${'the same again '.repeat(10_000)} kingfisher`)).toEqual(['Found'])
})

test('pages through results, equally relevant ones newest first', async () => {
  await using open = await openStore()
  for (let index = 0; index < 7; index += 1) {
    writeNote(open, {
      title: `Entry ${index}`,
      body: 'plover',
      created_at: `2026-11-21T09:30:0${Math.floor(index / 2)}.000Z`,
    })
  }
  const all = searchNotes(open, 'plover')
  expect(all).toEqual([6, 5, 4, 3, 2, 1, 0].map((index) => `Entry ${index}`))
  const pages = [0, 3, 6, 9].flatMap((offset) => searchNotes(open, 'plover', { offset, limit: 3 }))
  expect(pages).toEqual(all)
})
