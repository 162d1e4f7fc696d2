import { executorInfos, executorProfiles } from '../../../../src-shared/contract/executor-profiles.ts'
import { expect, test } from 'vitest'
import { checkPermissions, mayActAlone } from '../../../../src-main/domain/access/permissions.ts'
import type { AskedAction } from '../../../../src-main/domain/access/permissions.ts'

const asked = (
  action: AskedAction['action'],
  places: AskedAction['places'],
  more: Partial<AskedAction> = {},
): AskedAction => ({ action, places, ours: false, ...more })

const configNames: ReadonlySet<string> = new Set(['.claude'])

const inside = ['src/a.ts']
/** Action → who may do it without asking. */
const table: readonly [string, AskedAction, { worktree: boolean; ask: boolean }][] = [
  ['reading in the worktree', asked('read', inside), { worktree: true, ask: true }],
  ['searching all of the worktree', asked('search', []), { worktree: true, ask: true }],
  ['reading elsewhere', asked('read', null), { worktree: false, ask: false }],
  ['editing in the worktree', asked('edit', inside), { worktree: true, ask: false }],
  ['writing a new file in the worktree', asked('write', ['new/b.ts']), { worktree: true, ask: false }],
  ['editing elsewhere', asked('edit', null), { worktree: false, ask: false }],
  ['an edit that names no place', asked('edit', []), { worktree: false, ask: false }],
  ["editing git's own files", asked('edit', ['.git/config']), { worktree: false, ask: false }],
  ['changing what an agent asks about', asked('write', ['sub/.Claude/settings.json']), { worktree: false, ask: false }],
  ['editing one file that steers among others', asked('edit', ['a.ts', '.mcp.json']), { worktree: false, ask: false }],
  ['a command', asked('run', []), { worktree: false, ask: false }],
  ['the network', asked('fetch', []), { worktree: false, ask: false }],
  ['our own tools', asked('mcp', [], { ours: true }), { worktree: true, ask: true }],
  ["somebody else's MCP tools", asked('mcp', []), { worktree: false, ask: false }],
  ['what nobody knows', asked('other', []), { worktree: false, ask: false }],
]

test.each(table)('allows %s alone to the callers that the policy names', (_name, action, { worktree, ask }) => {
  expect({
    all: mayActAlone('all', action, configNames),
    worktree: mayActAlone('worktree', action, configNames),
    ask: mayActAlone('ask', action, configNames),
  }).toEqual({ all: true, worktree, ask })
})

test('lets every profile do everything, and refuses what can’t be enforced', () => {
  for (const executor of executorProfiles) {
    expect(checkPermissions({ executor, daemon_id: null, config: {} })).toBeNull()
    for (const permissions of ['worktree', 'ask'] as const) {
      const refusal = checkPermissions({ executor, daemon_id: null, config: { permissions } })
      const able = executorInfos[executor].permissions.includes(permissions)
      expect(refusal?.code).toBe(able ? undefined : 'validation_failed')
    }
  }
})

test('refuses a policy that asks where no one can be asked', () => {
  for (const executor of ['command', 'external', 'codex'] as const) {
    expect(checkPermissions({ executor, daemon_id: null, config: { permissions: 'ask' } })).toMatchObject({
      code: 'validation_failed',
      message: expect.stringContaining(executor) as string,
      details: { issues: [{ path: 'config.permissions' }] },
    })
  }
  const onDaemon = { executor: 'claude-code', daemon_id: 'd1', config: { permissions: 'worktree' } } as const
  expect(checkPermissions(onDaemon)?.message).toContain('on another machine')
})
