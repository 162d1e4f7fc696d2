import { expect, test } from 'vitest'
import { taskTextOf } from '../../../src-main/integrations/rules/issue-text.ts'
import { matchesFilter } from '../../../src-main/integrations/rules/issue-filter.ts'
import { readIssue } from '../../../src-main/integrations/rules/read-issue.ts'
import { cpuTime } from '../../helpers/cpu-time.ts'

const page = { url: 'https://git.test/octo/hello/issues/7', files: { path: '/attachments/', web: 'https://git.test' } }
const issue = { number: 7, title: 'It breaks', body: null as string | null, labels: [] as string[], html_url: null }
const described = (body: string | null) => taskTextOf({ ...issue, body }, page).description

test('leaves characters that deceive out of titles and labels', () => {
  const { title, labels } = taskTextOf({ ...issue, title: '\u202eIt\u001b[2K breaks ', labels: ['a\u2066', 'a'] }, page)
  expect({ title, labels }).toEqual({ title: 'It[2K breaks', labels: ['a'] })
})

test('keeps pictures, code and HTML of a body', () => {
  const body = [
    'Look:\r\n\r\n![shot](https://user-images.example.com/1/shot.png)',
    '<img width="300" alt="b" src="https://github.com/user-attachments/assets/0f">',
    '```ts\nconst a = `![x](/y)`\n```',
    '<details><summary>Log</summary>\n\n    indented\n</details>',
  ].join('\n')
  expect(described(body)).toBe(body)
})

test('links Gitea’s attachments absolutely, and keeps code that looks like one', () => {
  const body = [
    '![a](/attachments/1) and <img src="/attachments/2"> and [file](</attachments/3>)',
    'in line `![a](/attachments/4)` and ``code ` ![b](/attachments/5)`` then ![c](/attachments/6)',
    'one ` alone ![d](/attachments/7)',
    '~~~',
    '![e](/attachments/8)',
    '```',
    '![f](/attachments/9)',
    '~~~',
    '![g](/attachments/10) and ![h](https://elsewhere.test/attachments/11)',
  ].join('\n')
  expect(described(body)?.split('\n')).toEqual([
    '![a](https://git.test/attachments/1) and <img src="https://git.test/attachments/2"> and [file](<https://git.test/attachments/3>)',
    'in line `![a](/attachments/4)` and ``code ` ![b](/attachments/5)`` then ![c](https://git.test/attachments/6)',
    'one ` alone ![d](https://git.test/attachments/7)',
    '~~~',
    '![e](/attachments/8)',
    '```',
    '![f](/attachments/9)',
    '~~~',
    '![g](https://git.test/attachments/10) and ![h](https://elsewhere.test/attachments/11)',
  ])
})

test('links GitLab’s uploads below their project', () => {
  const files = { path: '/uploads/', web: 'https://gitlab.test/group/sub/hello' }
  const body = '![a](/uploads/0f/a.png) and `![b](/uploads/0f/b.png)` and ![c](/attachments/1)'
  expect(taskTextOf({ ...issue, body }, { ...page, files }).description).toBe(
    '![a](https://gitlab.test/group/sub/hello/uploads/0f/a.png) and `![b](/uploads/0f/b.png)` and ![c](/attachments/1)',
  )
})

test('cuts a body of 5 MB to the limit of a task, and links the whole', () => {
  const text = described('é😀'.repeat(1_700_000)) ?? ''
  expect(text.length).toBeLessThanOrEqual(1_000_000)
  expect(text.length).toBeGreaterThan(999_000)
  expect(text.endsWith(`All of it: ${page.url}`)).toBe(true)
  expect(text.isWellFormed()).toBe(true)
})

test('converts adversarial text quickly', () => {
  const took = cpuTime(() => {
    described(`/attachments/ ${'`'.repeat(400_000)} ${'a`'.repeat(250_000)}`)
    described(`/attachments/${'](</attachments/'.repeat(60_000)}`)
  })
  expect(took).toBeLessThan(5_000)
})

test('makes no description of an empty body, and titles an untitled issue by its number', () => {
  expect(taskTextOf({ ...issue, title: '  ', body: ' \r\n ' }, page)).toEqual({
    title: 'Issue #7',
    description: null,
    labels: [],
  })
})

test('cuts long titles and many labels', () => {
  const labels = ['a'.repeat(80), ' ui ', 'ui', '', ...Array.from({ length: 60 }, (_, index) => `l${index}`)]
  const text = taskTextOf({ ...issue, title: 'x'.repeat(600), labels }, page)
  expect(text.title).toBe(`${'x'.repeat(499)}…`)
  expect(text.labels.slice(0, 3)).toEqual(['a'.repeat(50), 'ui', 'l0'])
  expect(text.labels).toHaveLength(50)
})

test.each([
  [{}, true],
  [{ labels: [] }, true],
  [{ labels: ['BUG'] }, true],
  [{ labels: ['ui', 'urgent'] }, false],
])('matches with filter %o an issue with the labels Bug and help wanted: %o', (filter, wanted) => {
  expect(matchesFilter(filter, { labels: ['Bug', 'help wanted'] })).toBe(wanted)
})

test.each([
  [{ number: 1, title: 'a', labels: ['x', { name: 'y' }, { name: 3 }, null] }, 'issue'],
  [{ number: 1, title: 'a', pull_request: null }, 'issue'],
  [{ number: 1, title: 'a', pull_request: {} }, 'other'],
  [{ number: 1, title: 'a', state: 'closed' }, 'closed'],
  [{ number: 1.5, title: 'a' }, 'broken'],
  [{ number: '1', title: 'a' }, 'broken'],
  [{ number: 1 }, 'broken'],
  [{ number: 1, title: 'a', body: 5 }, 'broken'],
  [null, 'broken'],
  ['text', 'broken'],
  [[], 'broken'],
])('reads %j as %s', (value, kind) => {
  expect(readIssue(value).kind).toBe(kind)
})
