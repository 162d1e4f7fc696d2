import { expect, test } from 'vitest'
import { issueOf } from '../../../src-main/pull-requests/issue-of.ts'
import type { ExternalLinkRecord, IntegrationRecord } from '../../../src-main/ports/issue-trackers.ts'

const connection = {
  platform: 'selfhosted',
  base_url: 'https://git.example.com',
  owner: 'Octo',
  repo: 'hello',
  former_names: [{ owner: 'octo', repo: 'hallo' }],
} as unknown as IntegrationRecord
const task = { id: 't' as never }
const linked = (global_id: string | null) => {
  const link = global_id === null ? null : ({ global_id, number: 7 } as ExternalLinkRecord)
  return { external_links: { ofTask: () => link, get: () => null, add: () => undefined, remove: () => undefined } }
}
const numberOf = (global_id: string | null) => issueOf(linked(global_id), connection, task)

test('knows an issue of its own repository, also under a former name and in another case', () => {
  expect(numberOf('selfhosted:git.example.com:octo/hello#7')).toBe(7)
  expect(numberOf('selfhosted:git.example.com:octo/hallo#7')).toBe(7)
  // A link by hand may be older than what is known of its host.
  expect(numberOf('gitlab:git.example.com:octo/hello#7')).toBe(7)
})

test('touches no issue of another host or repository', () => {
  expect(numberOf('selfhosted:git.other.com:octo/hello#7')).toBeNull()
  expect(numberOf('hosted:octo/hello#7')).toBeNull()
  expect(numberOf('selfhosted:git.example.com:octo/other#7')).toBeNull()
  expect(numberOf(null)).toBeNull()
})
