import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { projectRoot } from './project-copy.ts'

const folder = join(projectRoot, 'src-main', 'store', 'migrations')

test('never changes a listed migration, because databases have run it', async () => {
  const frozen: unknown = JSON.parse(await readFile(join(import.meta.dirname, 'migrations.json'), 'utf8'))
  const files = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  const hashes = files.map(async (name) => {
    const content = await readFile(join(folder, name), 'utf8')
    return [name, createHash('sha256').update(content.replaceAll('\r\n', '\n')).digest('hex')] as const
  })
  // The commit of a new migration adds it to migrations.json.
  expect(Object.fromEntries(await Promise.all(hashes))).toEqual(frozen)
})

test('gives each migration a later time than the one before, because an earlier one would never run', async () => {
  const journal = JSON.parse(await readFile(join(folder, 'meta', '_journal.json'), 'utf8')) as {
    readonly entries: readonly { readonly tag: string; readonly when: number }[]
  }
  const times = journal.entries.map(({ when }) => when)
  expect(times).toEqual(times.toSorted((a, b) => a - b))
  expect(new Set(times).size).toBe(times.length)
})
