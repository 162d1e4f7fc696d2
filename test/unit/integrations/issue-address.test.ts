import { expect, test } from 'vitest'
import { issueAddress, knownIds } from '../../../src-main/integrations/rules/issue-address.ts'
import { readBaseUrl, readIssueUrl } from '../../../src-main/integrations/tracker-urls.ts'
import type { Platform } from '../../../src-shared/contract/trackers.ts'

const hello = { owner: 'octo', repo: 'hello' }

test.each<[Platform, string, string, string]>([
  ['hosted', 'https://api.github.com', 'hosted:octo/hello#7', 'https://github.com/octo/hello/issues/7'],
  ['hosted', 'https://api.github.com/', 'hosted:octo/hello#7', 'https://github.com/octo/hello/issues/7'],
  [
    'hosted',
    'https://ghe.example.com/api/v3',
    'hosted:ghe.example.com:octo/hello#7',
    'https://ghe.example.com/octo/hello/issues/7',
  ],
  [
    'hosted',
    'http://127.0.0.1:4400',
    'hosted:127.0.0.1:4400:octo/hello#7',
    'http://127.0.0.1:4400/octo/hello/issues/7',
  ],
  ['hosted', 'https://git.test:443', 'hosted:git.test:octo/hello#7', 'https://git.test/octo/hello/issues/7'],
  [
    'selfhosted',
    'https://GIT.example.com/forge/api/v1/',
    'selfhosted:git.example.com:octo/hello#7',
    'https://git.example.com/forge/octo/hello/issues/7',
  ],
  ['selfhosted', 'http://[::1]:3000', 'selfhosted:[::1]:3000:octo/hello#7', 'http://[::1]:3000/octo/hello/issues/7'],
])('%s at %s: %s', (platform, base_url, global_id, url) => {
  const base = readBaseUrl(platform, base_url)
  if (typeof base === 'string') throw new Error(base)
  expect(issueAddress(platform, base, hello, 7)).toEqual({ global_id, number: 7, url })
})

test.each([
  ['https://gitlab.com', 'gitlab:group/sub/hello#7', 'https://gitlab.com/group/sub/hello/-/issues/7'],
  [
    'https://git.test/lab/api/v4',
    'gitlab:git.test:group/sub/hello#7',
    'https://git.test/lab/group/sub/hello/-/issues/7',
  ],
])('names an issue of GitLab at %s, in a group of a group', (base_url, global_id, url) => {
  const base = readBaseUrl('gitlab', base_url)
  if (typeof base === 'string') throw new Error(base)
  const repository = { owner: 'group/sub', repo: 'hello' }
  expect(issueAddress('gitlab', base, repository, 7)).toEqual({ global_id, number: 7, url })
})

test.each([
  ['https://gitlab.com/group/sub/hello/-/issues/7', 'https://gitlab.com'],
  ['https://gitlab.com/group/sub/hello/-/work_items/7/', 'https://gitlab.com'],
  ['https://git.test/group/sub/hello/-/issues/7#note_1', 'https://git.test'],
])('recognizes %s as the page of an issue of GitLab', (address, web) => {
  expect(readIssueUrl(address)).toMatchObject({
    platform: 'gitlab',
    base: { web },
    repository: { owner: 'group/sub', repo: 'hello' },
    number: 7,
  })
})

test.each([
  ['http://git.example.com', /https/],
  ['http://127.0.0.1.example.com', /https/],
  ['http://localhost.example.com', /https/],
  ['https://me:secret@git.example.com', /password/],
  ['https://git.example.com?x=1', /\?/],
  ['ftp://git.example.com', /address/],
  ['git.example.com', /address/],
  ['', /address/],
])('refuses %s as base_url', (base_url, why) => {
  expect(readBaseUrl('selfhosted', base_url)).toMatch(why)
})

test.each([
  ['https://github.com/octo/hello/issues/7', 'https://github.com'],
  ['https://www.github.com/octo/hello/issues/7/', 'https://github.com'],
  ['https://github.com/octo/hello/issues/7?x=1#issuecomment-1', 'https://github.com'],
  ['https://api.github.com/repos/octo/hello/issues/7', 'https://github.com'],
  ['https://git.example.com/forge/octo/hello/issues/7', 'https://git.example.com/forge'],
  ['https://git.example.com/api/v1/repos/octo/hello/issues/7', 'https://git.example.com'],
])('recognizes %s as the page of an issue', (address, web) => {
  const page = readIssueUrl(address)
  expect({ web: page?.base.web, repository: page?.repository, number: page?.number }).toEqual({
    web,
    repository: hello,
    number: 7,
  })
})

test.each([
  'https://github.com/octo/hello/pull/7',
  'https://github.com/octo/hello/issues',
  'https://github.com/octo/hello/issues/0',
  'https://github.com/octo/hello/issues/7/edit',
  'https://github.com/octo/hello/issues/99999999999999999999',
  'https://github.com/octo/%2e%2e/issues/7',
  'https://me:secret@github.com/octo/hello/issues/7',
  'javascript:alert(1)//octo/hello/issues/7',
  'octo/hello#7',
])('recognizes no issue in %s', (address) => {
  expect(readIssueUrl(address)).toBeNull()
})

test('knows an issue under every platform of its host and every name of its repository', () => {
  const base = readIssueUrl('https://git.test/octo/hello/issues/7')?.base
  if (!base) throw new Error('no page')
  expect(knownIds(base, [hello, { owner: 'octo', repo: 'old' }], 7)).toEqual([
    'hosted:git.test:octo/hello#7',
    'selfhosted:git.test:octo/hello#7',
    'gitlab:git.test:octo/hello#7',
    'hosted:git.test:octo/old#7',
    'selfhosted:git.test:octo/old#7',
    'gitlab:git.test:octo/old#7',
  ])
})
