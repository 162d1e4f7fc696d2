import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { foldersOf, makeFolders, neededBy } from '../../../src-main/agents/agent/needs.ts'

const home = mkdtempSync(join(tmpdir(), 'copse-needs-'))
afterAll(() => {
  rmSync(home, { recursive: true, force: true })
})

const claude = {
  word: 'claude',
  folders: ['~/.claude', '~/.claude.json'],
  hosts: ['api.anthropic.com'],
  variables: ['ANTHROPIC_'],
  folderVariables: ['CLAUDE_CONFIG_DIR'],
}
const other = { word: 'other', folders: ['~/.local/share/other'], hosts: ['other.test'] }
const all = [{ needs: claude }, { needs: other }, {}]

test('finds the agent’s folders where its configuration says', () => {
  expect(foldersOf(claude, {})).toEqual(claude.folders)
  expect(foldersOf(claude, { HOME: '/h', CLAUDE_CONFIG_DIR: '/c' })).toEqual(['/h/.claude', '/h/.claude.json', '/c'])
  expect(foldersOf(other, { XDG_DATA_HOME: '/data' })).toEqual(['/data/other'])
})

test('creates missing folders, because the run can’t', async () => {
  process.env['ANTHROPIC_TEST'] = '1'
  const needs = await neededBy(claude, all, { config: { env: { HOME: home } } })
  delete process.env['ANTHROPIC_TEST']
  expect(needs.hosts).toEqual(claude.hosts)
  expect(needs.variables).toContain('ANTHROPIC_TEST')
  expect(existsSync(join(home, '.claude'))).toBe(true)
  expect(readFileSync(join(home, '.claude.json'), 'utf8')).toBe('{}\n')
})

test('reads the needs from the owner’s command, not from one that a claim put in its place', async () => {
  const config = { command: 'npx claude-agent-acp', env: { HOME: home } }
  expect((await neededBy(undefined, all, { config, own_command: config.command })).hosts).toEqual(claude.hosts)
  expect(await neededBy(undefined, all, { config, own_command: './run' })).toMatchObject({ folders: [], hosts: [] })
})

test.each([
  ['pi -p --mode json', '.pi'],
  ["exec '/opt/bin/cline' --json", '.cline'],
  ['npx cn@1.5.47 -p', '.continue'],
])('gives a command that runs a known agent the folder of its state: %s', async (own_command, folder) => {
  const needs = await neededBy(undefined, [], { own_command, config: { env: { HOME: home } } })
  expect(needs.folders).toEqual([join(home, folder)])
  expect(existsSync(join(home, folder))).toBe(true)
})

test('takes no part of another word for an agent', async () => {
  for (const own_command of ['npm run pipeline', 'copilot', 'sh ./pi.sh', 'echo amplify']) {
    expect((await neededBy(undefined, [], { own_command, config: {} })).folders).toEqual([])
  }
})

test('creates the folders that a person allows, and no folder for a file', async () => {
  await makeFolders([join(home, 'allowed', 'deep'), join(home, '.toolrc'), join(home, 'notes.txt')])
  expect(['allowed/deep', '.toolrc', 'notes.txt'].map((name) => existsSync(join(home, name)))).toEqual([
    true,
    false,
    false,
  ])
})
