import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { firstWindow, loadWindowState, saveWindowState } from '../../../src-main/desktop/window-state.ts'

const folder = await mkdtemp(join(tmpdir(), 'copse-window-'))
const file = join(folder, 'window.json')
afterAll(() => rm(folder, { recursive: true, force: true }))

test('the window comes back where it was', () => {
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
])('a file that holds %j gives the first window', async (content) => {
  await writeFile(file, content)
  expect(loadWindowState(file)).toEqual(firstWindow)
})

test('no file gives the first window', () => {
  expect(loadWindowState(join(folder, 'missing', 'window.json'))).toEqual(firstWindow)
})
