import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { keepGeminiSession } from '../../../../src-main/agents/gemini/keep-session.ts'

const id = 'dad206c1-14b7-450e-95d5-f76b13c89694'
const now = new Date('2026-11-21T20:00:30.000Z')
const current = 'session-2026-11-21T20-00-dad206c1.jsonl'
const earlier = 'session-2026-11-21T19-59-dad206c1.jsonl'

let folder = ''
let chats = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'copse-gemini-'))
  chats = join(folder, 'tmp', 'worktree', 'chats')
  await mkdir(chats, { recursive: true })
})
afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

test('renames a session of this minute, so that loading does not overwrite it', async () => {
  await writeFile(join(chats, current), 'the session')
  await writeFile(join(chats, 'session-2026-11-21T20-00-eeeeeeee.jsonl'), 'another')
  await keepGeminiSession(folder, id, now)
  expect(await readdir(chats)).toEqual([earlier, 'session-2026-11-21T20-00-eeeeeeee.jsonl'])
  expect(await readFile(join(chats, earlier), 'utf8')).toBe('the session')
})

test('overwrites nothing and keeps the name of an older session', async () => {
  await writeFile(join(chats, current), 'new')
  await writeFile(join(chats, earlier), 'old')
  await keepGeminiSession(folder, id, now)
  expect(await readFile(join(chats, earlier), 'utf8')).toBe('old')
  await rm(join(chats, current))
  await keepGeminiSession(folder, id, now)
  expect(await readdir(chats)).toEqual([earlier])
})

test('does nothing where Gemini has never run', async () => {
  await keepGeminiSession(join(folder, 'nowhere'), id, now)
  expect(await readdir(folder)).toEqual(['tmp'])
})
