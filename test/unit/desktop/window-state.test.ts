import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { firstWindow, loadWindowState, saveWindowState } from '../../../src-main/desktop/window-state.ts'

const folder = await mkdtemp(join(tmpdir(), 'copse-window-'))
const file = join(folder, 'window.json')
afterAll(() => rm(folder, { recursive: true, force: true }))

test('restores the window where it was', () => {
  const state = { x: -5, y: 40, width: 1200, height: 800, maximized: true }
  saveWindowState(file, state)
  expect(loadWindowState(file)).toEqual(state)
})

test.each([
  '',
  '{',
  'null',
  '7',
  '{"width":10,"height":10}',
  '{"width":"1200","height":800}',
  '{"width":1e9,"height":800}',
])('falls back to the first window for a file with %j', async (content) => {
  await writeFile(file, content)
  expect(loadWindowState(file)).toEqual(firstWindow)
})

test('falls back to the first window without a file', () => {
  expect(loadWindowState(join(folder, 'missing', 'window.json'))).toEqual(firstWindow)
})
