import { expect, test } from 'vitest'
import { folderProblem } from '../../../../src-renderer/features/first-run/use-choose-repository.ts'
import { stepsOf } from '../../../../src-renderer/features/new-task/task-draft.ts'
import { errorSentence } from '../../../../src-renderer/formatters/error-sentence.ts'
import { executorInfos } from '../../../../src-shared/contract/executor-profiles.ts'
import { initials } from '../../../../src-renderer/formatters/initials.ts'
import { ApiError } from '../../../../src-shared/contract/errors.ts'

test('names the command that helps a folder without git or commits, or says that it is missing', () => {
  const refusal = (code: 'not_a_git_repository' | 'repository_has_no_commits', message: string, command?: string) =>
    new ApiError({ code, message, ...(command !== undefined && { details: { command } }) })
  const trust = "git config --global --add safe.directory '/theirs'"
  expect(folderProblem(refusal('not_a_git_repository', '/theirs belongs to another user.', trust))).toEqual({
    title: 'Couldn’t open the folder',
    text: '/theirs belongs to another user.',
    command: trust,
  })
  const plain = refusal('not_a_git_repository', 'No repository there.', 'git init')
  const unborn = refusal('repository_has_no_commits', 'No commit yet.', 'git commit --allow-empty -m "Start"')
  expect(folderProblem(refusal('not_a_git_repository', 'No folder at /nowhere. Check the path.'))).toEqual({
    title: 'Couldn’t open the folder',
    text: 'No folder at /nowhere. Check the path.',
    command: null,
  })
  expect(folderProblem(plain)).toEqual({
    title: 'This folder isn’t a git repository',
    text: 'No repository there.',
    command: 'git init',
  })
  expect(folderProblem(unborn).command).toBe('git commit --allow-empty -m "Start"')
  expect(folderProblem(new Error('socket'))).toEqual({
    title: 'Couldn’t open the folder',
    text: 'Can’t reach Copse. Check that it’s running, then try again.',
    command: null,
  })
})

test('shows the first issue of a failed validation', () => {
  const issues = [{ path: ['password'], message: 'A password has at least 8 characters.' }]
  const error = new ApiError({ code: 'validation_failed', message: 'The input is not valid.', details: { issues } })
  expect(errorSentence(error)).toBe('A password has at least 8 characters.')
  expect(errorSentence(new ApiError({ code: 'validation_failed', message: 'Not valid.' }))).toBe('Not valid.')
})

test('counts as steps only lines with content', () => {
  expect(stepsOf(' npm test \n\n  npm run lint\n')).toEqual(['npm test', 'npm run lint'])
})

test.each([
  ['Claude Code', 'agent', 'Cl'],
  ['Copilot CLI', 'agent', 'Cp'],
  ['Codex', 'agent', 'Cd'],
  ['Codex thorough', 'agent', 'Ct'],
  ['Ai', 'agent', 'Ai'],
  ['Some Body', 'person', 'SB'],
  ['Ana Maria de Souza', 'person', 'AS'],
  ['', 'agent', '?'],
] as const)('%s as %s is %s', (name, kind, letters) => {
  expect(initials(name, kind)).toBe(letters)
})

test('has letters for the agents that Copse knows', () => {
  const programs = Object.values(executorInfos).filter(({ command }) => command === 'path')
  const letters = programs.map(({ name }) => initials(name, 'agent'))
  expect(new Set(letters).size).toBe(programs.length)
})
