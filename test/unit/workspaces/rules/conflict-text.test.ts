import { expect, test } from 'vitest'
import type { ConflictHunk } from '../../../../src-shared/contract/conflicts.ts'
import { readConflictRequest } from '../../../../src-shared/contract/conflict-request.ts'
import { conflictPrompt, type ConflictFacts } from '../../../../src-main/workspaces/rules/conflict-text.ts'

const hunk = (more: Partial<ConflictHunk> = {}): ConflictHunk => ({
  path: 'a.txt',
  kind: 'content',
  line: 3,
  text: '<<<<<<< svc/x\nours\n=======\ntheirs\n>>>>>>> main\n',
  truncated: false,
  ...more,
})
const base = 'c0ffee'.padEnd(40, '0')
const facts = (more: Partial<ConflictFacts> = {}): ConflictFacts => ({
  branch: 'svc/x',
  base_branch: 'main',
  base,
  strategy: 'merge',
  left: false,
  files: ['a.txt'],
  hunks: [hunk()],
  ...more,
})

test('is told from a person’s own words, with its base and its files', () => {
  const one = conflictPrompt(facts({ base_branch: 'main$(reboot)' }))
  expect(readConflictRequest(one)).toEqual({ base: 'main$(reboot)', files: 1 })
  expect(readConflictRequest(`Fix login\n\n${conflictPrompt(facts({ files: ['a', 'b', 'c'] }))}`)?.files).toBe(3)
  expect(readConflictRequest('## Resolve the conflict with main\n\nIt is yours.')).toBeNull()
})

test('names the commit in the command, so that it is unambiguous', () => {
  const said = conflictPrompt(facts({ base_branch: 'main$(reboot)' }))
  expect(said).toContain(`1. Run \`git merge ${base}\``)
  expect(said).toContain('git commit --no-edit')
  expect(said).not.toMatch(/git merge main/)
})

test('continues a rebase, and does not begin a merge again that is in progress', () => {
  expect(conflictPrompt(facts({ strategy: 'rebase' }))).toContain(`git rebase ${base}`)
  expect(conflictPrompt(facts({ strategy: 'rebase' }))).toContain('rebase --continue')
  const left = conflictPrompt(facts({ strategy: 'rebase', left: true }))
  expect(left).toContain('already started in your worktree')
  expect(left).toContain('git commit --no-edit')
  expect(left).not.toContain(base)
})

test('says what each kind of conflict needs, and shows lines', () => {
  const hunks = [hunk(), hunk({ path: 'b.bin', kind: 'binary', line: null, text: null })]
  const said = conflictPrompt(facts({ files: ['a.txt', 'b.bin', 'odd`\nname'], hunks }))
  expect(said).toContain('- `a.txt`\n- `b.bin` (binary: take one side whole')
  expect(said).toContain('- "odd`\\nname"')
  expect(said).toContain('`a.txt`, line 3:\n\n```\n<<<<<<< svc/x\nours')
  expect(said).not.toContain('`b.bin`, line')
})

test('is not ended by lines with a fence, and says what is cut', () => {
  const said = conflictPrompt(facts({ hunks: [hunk({ text: '````\nx\n', truncated: true })] }))
  expect(said).toContain('`````\n````\nx\n`````\n(The rest is in the file.)')
})

test('names the first 200 of a thousand files', () => {
  const files = Array.from({ length: 1_000 }, (_, index) => `f${index}.txt`)
  const said = conflictPrompt(facts({ files, hunks: [] }))
  expect(said).toContain('1000 files conflict')
  expect(said).toContain('- `f199.txt`\n- and 800 more')
})
