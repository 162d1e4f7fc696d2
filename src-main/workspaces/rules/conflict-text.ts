import { conflictRequestText } from '../../../src-shared/contract/conflict-request.ts'
import type { ConflictHunk } from '../../../src-shared/contract/conflicts.ts'

export interface ConflictFacts {
  readonly branch: string
  readonly base_branch: string
  /** The commit of the base branch. */
  readonly base: string
  readonly strategy: 'merge' | 'rebase'
  /** The merge is already in progress in the worktree. */
  readonly left: boolean
  readonly files: readonly string[]
  readonly hunks: readonly ConflictHunk[]
}

/**
 * Returns the prompt for the coder of a branch that conflicts with its base. Commits are named by ID, because a name
 * may be ambiguous.
 */
export function conflictPrompt(facts: ConflictFacts): string {
  const { branch, base_branch, files } = facts
  return [
    `${conflictRequestText(base_branch, branch, files.length)} This time it is your part to bring ${base_branch} in:`,
    steps(facts),
    filesPart(facts.hunks, files),
    ...hunkParts(facts.hunks),
  ].join('\n\n')
}

/** `One file conflicts` or `3 files conflict`. */
export function count(files: readonly string[]): string {
  return files.length === 1 ? 'one file conflicts' : `${files.length} files conflict`
}

function steps({ base, base_branch, strategy, left }: ConflictFacts): string {
  const begin = left
    ? `The merge is already started in your worktree (\`git status\` shows it). Do not start it again.`
    : `Run \`git ${strategy} ${base}\`: that commit is ${base_branch} as it is now.`
  const isRebase = strategy === 'rebase' && !left
  return [
    begin,
    'Resolve each conflict and keep the intent of both sides. Where they exclude each other, the task decides. Leave no conflict markers behind.',
    isRebase
      ? 'Stage what you resolved (`git add`, `git rm`) and continue with `git -c core.editor=true rebase --continue`, until the rebase is finished.'
      : 'Stage what you resolved (`git add`, `git rm`) and conclude the merge with `git commit --no-edit`.',
    'Check that the whole still works, then finish as before. Do not push, and do not switch branches.',
  ]
    .map((step, index) => `${index + 1}. ${step}`)
    .join('\n')
}

const maxFiles = 200

/** Advice by git's kind of conflict, where a choice of lines is not enough. */
const advice: Partial<Record<ConflictHunk['kind'], string>> = {
  'modify/delete':
    'changed on one side, deleted on the other: keep the change with `git add`, or delete it with `git rm`',
  'rename/delete': 'renamed on one side, deleted on the other: `git add` or `git rm` it',
  'rename/rename': 'renamed on both sides: choose one name, and `git rm` the others',
  'add/add': 'added on both sides',
  binary: 'binary: take one side whole with `git checkout --ours` or `git checkout --theirs`',
  symlink: 'a symbolic link: decide where it should point',
  submodule: 'a submodule: choose its commit',
}

export function filesPart(hunks: readonly ConflictHunk[], files: readonly string[]): string {
  const kinds = new Map(hunks.map((hunk) => [hunk.path, hunk.kind]))
  const lines = files.slice(0, maxFiles).map((path) => {
    const kind = kinds.get(path)
    const hint = kind && kind !== 'content' ? ` (${advice[kind] ?? kind})` : ''
    return `- ${inline(path)}${hint}`
  })
  const more = files.length > maxFiles ? [`- and ${files.length - maxFiles} more`] : []
  return ['The files:', [...lines, ...more].join('\n')].join('\n\n')
}

export function hunkParts(hunks: readonly ConflictHunk[]): readonly string[] {
  return hunks.flatMap(({ path, line, text, truncated }) => {
    if (text === null) return []
    const fence = '`'.repeat(Math.max(3, ...[...text.matchAll(/`{3,}/g)].map(([run]) => run.length + 1)))
    const cut = truncated ? '\n(The rest is in the file.)' : ''
    return [`${inline(path)}, line ${line ?? 1}:\n\n${fence}\n${text.trimEnd()}\n${fence}${cut}`]
  })
}

/** Escapes a file name, which may contain line breaks or backticks. */
function inline(path: string): string {
  return /[`\p{Cc}]/u.test(path) ? JSON.stringify(path) : `\`${path}\``
}
