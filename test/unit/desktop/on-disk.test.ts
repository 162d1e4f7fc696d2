import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createAutoStart } from '../../../src-main/desktop/auto-start.ts'
import { openDesktopSettings } from '../../../src-main/desktop/desktop-settings.ts'

const folder = await mkdtemp(join(tmpdir(), 'copse-desktop-'))
afterAll(() => rm(folder, { recursive: true, force: true }))
const noItems = { getLoginItemSettings: () => ({ openAtLogin: false }), setLoginItemSettings: () => undefined }

test('has default settings at first, and keeps changed ones', () => {
  const file = join(folder, 'desktop.json')
  const first = openDesktopSettings(file)
  expect(first.get()).toMatchObject({ whenClosed: 'ask', whenQuit: 'ask', updates: 'stable', theme: 'system' })
  first.change({ whenClosed: 'tray', paused: ['a'] })
  expect(openDesktopSettings(file).get()).toMatchObject({ whenClosed: 'tray', updates: 'stable', paused: ['a'] })
})

test.each(['', '{', 'null', '[]', '7', '{"whenClosed":"never","updates":7,"theme":"dark"}'])(
  'reads as much as it can of a file with %j',
  async (content) => {
    const file = join(folder, 'broken.json')
    await writeFile(file, content)
    const { whenClosed, updates, theme } = openDesktopSettings(file).get()
    expect([whenClosed, updates, theme]).toEqual(['ask', 'stable', content.includes('dark') ? 'dark' : 'system'])
  },
)

test('starts with the system on Linux by an autostart file', async () => {
  const file = join(folder, 'config', 'autostart', 'copse.desktop')
  const auto = createAutoStart('linux', noItems, { file, program: '/opt/100% "mine"/copse' })
  expect(auto.isOn()).toBe(false)
  auto.set(true)
  expect(auto.isOn()).toBe(true)
  expect(await readFile(file, 'utf8')).toContain('Exec="/opt/100%% \\\\"mine\\\\"/copse" --hidden\n')
  await writeFile(file, (await readFile(file, 'utf8')).replace('enabled=true', 'enabled=false'))
  expect(auto.isOn()).toBe(false)
  auto.set(false)
  auto.set(false)
  expect(auto.isOn()).toBe(false)
})

test('uses the system’s login items elsewhere', () => {
  let item = { openAtLogin: false, args: [] as readonly string[] }
  const items = { getLoginItemSettings: () => item, setLoginItemSettings: (next: typeof item) => void (item = next) }
  const auto = createAutoStart('win32', items, { file: '', program: '' })
  auto.set(true)
  expect([auto.isOn(), item.args]).toEqual([true, ['--hidden']])
})
