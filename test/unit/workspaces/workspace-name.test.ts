import fc from 'fast-check'
import { expect, test } from 'vitest'
import { branchName, slug, workspacePath } from '../../../src-main/workspaces/workspace-name.ts'

test.each([
  ['Add a button', 'add-a-button'],
  ['  Fix: the *thing*!  ', 'fix-the-thing'],
  ['Größe ändern – schnell', 'gro-e-andern-schnell'],
  ['日本語', 'task'],
  ['🌱🌳', 'task'],
  ['', 'task'],
  ['--help', 'help'],
  ['../../etc/passwd', 'etc-passwd'],
  ['a'.repeat(60), 'a'.repeat(40)],
  [`${'a'.repeat(39)} b`, 'a'.repeat(39)],
])('the slug of %j is %j', (title, expected) => {
  expect(slug(title)).toBe(expected)
})

test('the branch ends with the last eight hex digits of the task id', () => {
  const task = { id: '01912d68-783e-7a03-8467-5661C1243AD4', title: 'Add a button' }
  expect(branchName(task, 'copse/')).toBe('copse/add-a-button-c1243ad4')
})

test('every title gives a slug that is plain, short and neither starts nor ends with a dash', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (title) => {
      expect(slug(title)).toMatch(/^(?=.{1,40}$)[a-z0-9]+(?:-[a-z0-9]+)*$/)
    }),
  )
})

test('a workspace lies below its project', () => {
  expect(workspacePath('/data/workspaces', { id: 't', project_id: 'p' })).toBe('/data/workspaces/p/t')
})
