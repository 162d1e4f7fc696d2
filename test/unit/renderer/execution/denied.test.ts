import { expect, test } from 'vitest'
import { allowedToo, canBeAllowed, isAllowed } from '../../../../src-renderer/features/execution/allow-denied.ts'
import { createTranscriptRows } from '../../../../src-renderer/features/execution/transcript-rows.ts'
import type { TranscriptEntry } from '../../../../src-shared/contract/executions.ts'

const at = '2026-11-21T09:30:00.000Z'
const denied = (what: 'host' | 'path', target: string, count = 1): TranscriptEntry => ({
  type: 'denied',
  at,
  what,
  target,
  count,
})

test('shows each target in one row with its count', () => {
  const rows = createTranscriptRows()
  rows.append([denied('host', 'a.test'), { type: 'message', at, text: 'Hm.' }, denied('path', '/a')])
  rows.append([denied('host', 'a.test', 7)])
  const shown = rows
    .rows()
    .map((row) => (row.kind === 'denied' ? [row.key, row.denied.target, row.denied.count] : row.kind))
  expect(shown).toEqual([[0, 'a.test', 7], 'message', [2, '/a', 1]])
})

test('shows all hosts of telemetry in one row', () => {
  const rows = createTranscriptRows()
  const hosts = [
    'o1.ingest.sentry.io',
    'statsig.anthropic.com',
    'statsig.anthropic.com',
    'http-intake.logs.us5.datadoghq.com',
  ]
  rows.append([
    ...hosts.map((host) => denied('host', host)),
    denied('host', 'notsentry.io'),
    denied('path', '/sentry.io'),
  ])
  const shown = rows.rows().map((row) => (row.kind === 'telemetry' ? row.hosts : row.kind))
  expect(shown).toEqual([[...new Set(hosts)], 'denied', 'denied'])
})

test('adds what is allowed to the earlier list', () => {
  const host = { what: 'host', target: 'a.test' } as const
  const config = { command: 'x', containment: 'worktree_and_hosts', allowed_hosts: ['b.test'] } as const
  const before = { ...config, allowed_hosts: [...config.allowed_hosts] }
  expect(isAllowed(before, host)).toBe(false)
  const after = allowedToo(before, host)
  expect(after).toEqual({ ...before, allowed_hosts: ['b.test', 'a.test'] })
  expect(isAllowed(after, host)).toBe(true)
  const path = { what: 'path', target: '/a' } as const
  const reads = { ...before, extra_paths: { read: ['/r'] } }
  expect(allowedToo(reads, path).extra_paths).toEqual({ read: ['/r'], write: ['/a'] })
  const read = { ...path, target: '/b', access: 'read' } as const
  expect(allowedToo(reads, read).extra_paths).toEqual({ read: ['/r', '/b'] })
  expect([isAllowed(allowedToo(reads, read), read), isAllowed(reads, read)]).toEqual([true, false])
  expect(isAllowed({ containment: 'none' }, path)).toBe(true)
})

test('can allow paths, hosts and ports of this machine, but not what no run could reach', () => {
  const can = (target: string) => canBeAllowed({ what: 'host', target })
  expect(['a.test', '127.0.0.1:11434'].map(can)).toEqual([true, true])
  expect(['169.254.169.254', '127.0.0.1:80', '*:443'].map(can)).toEqual([false, false, false])
  expect(canBeAllowed({ what: 'path', target: '/a' })).toBe(true)
})
