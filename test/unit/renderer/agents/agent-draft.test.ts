import { executorInfos, executorProfiles } from '../../../../src-shared/contract/executor-profiles.ts'
import { expect, test } from 'vitest'
import {
  configOf,
  draftOf,
  missingOf,
  newDraft,
  variantOf,
} from '../../../../src-renderer/features/agents/agent-draft.ts'
import { AgentId, RunnerId } from '../../../../src-shared/contract/ids.ts'
import { type Agent, type AgentConfig } from '../../../../src-shared/contract/projects.ts'

const codex: Agent = {
  id: AgentId.parse('01990003-0000-7000-8000-000000000001'),
  name: 'Codex',
  owner_id: null,
  daemon_id: null,
  executor: 'codex',
  config: { model: 'gpt', effort: 'high', args: ['--add-dir', 'a b'], env: { KEY: ' secret ' } },
  paused: false,
  created_at: '2026-11-21T09:00:00.000Z',
}

test('saves an opened agent unchanged', () => {
  expect(configOf(draftOf(codex))).toEqual(codex.config)
  const asking: Agent = { ...codex, executor: 'gemini', config: { permissions: 'ask' } }
  expect(configOf(draftOf(asking))).toEqual(asking.config)
  const shown: Agent = { ...codex, executor: 'command', config: { command: 'top', terminal: true } }
  expect(configOf(draftOf(shown))).toEqual(shown.config)
  const limits = { per_day: { usd: 2.5, minutes: null } }
  const limited: Agent = { ...codex, config: { limits, account: 'Team' } }
  expect(configOf(draftOf(limited))).toEqual(limited.config)
  const placed: Agent = { ...codex, config: { runner_ids: [RunnerId.parse('01990031-0000-7000-8000-000000000001')] } }
  expect(configOf(draftOf(placed))).toEqual(placed.config)
  // An agent that Copse doesn't start has no runner.
  expect(configOf({ ...draftOf(placed), executor: 'external' })).toEqual({})
  expect(missingOf({ ...draftOf(limited), dayMinutes: '0' })).toBe('A limit must be more than 0')
})

test('saves only the fields of its kind', () => {
  const full = { ...draftOf(codex), command: ' ./run ', permissions: 'worktree' } as const
  expect(configOf({ ...full, executor: 'external' })).toEqual({})
  expect(configOf({ ...full, executor: 'command' })).toEqual({
    command: './run',
    args: ['--add-dir', 'a b'],
    env: { KEY: ' secret ' },
  })
  expect(configOf({ ...full, executor: 'gemini' })).not.toHaveProperty('effort')
  expect(configOf({ ...full, executor: 'codex' })).not.toHaveProperty('permissions')
})

test('names a variant with a free name', () => {
  expect(variantOf(codex, ['Codex', 'Codex 2']).name).toBe('Codex 3')
  expect(variantOf(codex, ['Codex']).model).toBe('gpt')
})

test('reports what is missing before it sends anything', () => {
  expect(missingOf(newDraft('claude-code'))).toBeNull()
  expect(missingOf({ ...newDraft('codex'), name: ' ' })).toContain('name')
  for (const executor of ['acp', 'command'] as const) {
    expect(missingOf({ ...newDraft(executor), name: 'Mine' })).toContain('command')
    expect(missingOf({ ...newDraft(executor), name: 'Mine', command: 'run' })).toBeNull()
  }
  expect(missingOf({ ...newDraft('codex'), effort: 'very high' })).toContain('one word')
  expect(missingOf({ ...newDraft('codex'), env: [{ name: '', value: 'x' }] })).toContain('name')
  expect(missingOf({ ...newDraft('codex'), env: [{ name: 'A B', value: 'x' }] })).toContain('A B')
  expect(missingOf({ ...newDraft('codex'), env: [{ name: '', value: '' }] })).toBeNull()
})

test('can begin with every kind', () => {
  for (const executor of executorProfiles) {
    const contained = executorInfos[executor].location === 'local' ? { containment: 'auto' } : {}
    expect(configOf(newDraft(executor))).toEqual(contained)
  }
})

test('keeps the containment of an agent', () => {
  const config: AgentConfig = {
    command: 'true',
    containment: 'worktree_and_hosts',
    allowed_hosts: ['registry.example.com'],
    extra_paths: { read: ['/srv/models'] },
  }
  const agent: Agent = { ...codex, executor: 'command', config }
  expect(configOf(draftOf(agent))).toEqual(config)
})
