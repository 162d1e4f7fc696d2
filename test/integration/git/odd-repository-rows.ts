import { execFileSync } from 'node:child_process'
import { chmodSync, readdirSync } from 'node:fs'
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ProjectSettings } from '../../../src-shared/contract/projects.ts'
import type { TestRepository } from '../../helpers/git-repository.ts'

/** An odd repository, and what comes of a task in it. */
export interface Row {
  readonly prepare?: (repository: TestRepository) => Promise<Prepared | void>
  /** What the agent does in its worktree; by default a commit and an uncommitted file. */
  readonly agent?: string
  readonly settings?: Partial<ProjectSettings>
  /** The project is refused with this code. */
  readonly refused?: string
  /** The paths of the diff. */
  readonly diff?: readonly string[]
  /** `done`, the state after a failure, or the code of a refusal. */
  readonly merge?: string
}

/** What a preparation has made: the folder of the project, and of the user's checkout. */
export interface Prepared {
  readonly project?: string
  readonly checkout?: string | null
  readonly base?: string
  /** Where git is asked about the result. */
  readonly git_in?: string
}

/** What an agent does in its worktree if the row doesn't say. */
export const work = 'echo 1 > work.txt && git add work.txt && git commit -qm Work && echo 2 > more.txt'
export const usual = ['more.txt', 'work.txt']

const configured =
  (...settings: readonly (readonly [string, string])[]) =>
  async ({ git }: TestRepository): Promise<void> => {
    for (const [key, value] of settings) await git(['config', key, value])
  }

async function clone({ git, path, beside }: TestRepository, ...options: readonly string[]): Promise<string> {
  const place = join(beside, 'clone')
  await git(['clone', '--quiet', ...options, `file://${path}`, place])
  await nameCommitter(git, place)
  return place
}

/** Names who commits there, which machines without a global configuration need. */
async function nameCommitter(git: TestRepository['git'], place: string): Promise<void> {
  await git(['config', 'user.name', 'Copse tests'], { cwd: place })
  await git(['config', 'user.email', 'tests@copse.test'], { cwd: place })
}

async function makeSubmodule({ git, commit, path, beside }: TestRepository): Promise<string> {
  const outer = join(beside, 'outer')
  await git(['init', '--quiet', '--initial-branch=main', outer])
  await commit('Outer', { 'outer.txt': 'x\n' }, outer)
  await git(['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', path, 'sub'], { cwd: outer })
  await nameCommitter(git, join(outer, 'sub'))
  return join(outer, 'sub')
}

async function separate({ git, path, beside }: TestRepository): Promise<void> {
  await git(['init', '--quiet', '--separate-git-dir', join(beside, 'separate.git'), path])
}

const filters = configured(
  ['filter.big.clean', 'sed s/large/small/'],
  ['filter.big.smudge', 'sed s/small/large/'],
  ['filter.big.required', 'true'],
)

const failingHooks = ['post-checkout', 'pre-commit', 'commit-msg', 'post-commit', 'post-merge', 'pre-merge-commit']

async function hide({ git, write }: TestRepository, flag: string): Promise<void> {
  await git(['update-index', `--${flag}`, 'README.md'])
  await write({ 'README.md': 'mine\n' })
}

const isSupported = (...args: readonly string[]): boolean => {
  try {
    execFileSync('git', [...args], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
const hasReftable =
  isSupported('check-ref-format', '--help') && isSupported('-c', 'init.defaultRefFormat=reftable', 'refs', 'list')

export const rows: Readonly<Record<string, Row>> = {
  'an ordinary one': {},
  'core.worktree for all worktrees': {
    prepare: async (repository) =>
      configured(['extensions.worktreeConfig', 'true'], ['core.worktree', repository.path])(repository),
  },
  'a submodule': { prepare: async (repository) => ({ ...at(await makeSubmodule(repository)) }) },
  'a submodule with worktreeConfig': {
    prepare: async (repository) => {
      const sub = await makeSubmodule(repository)
      await repository.git(['config', 'extensions.worktreeConfig', 'true'], { cwd: sub })
      return at(sub)
    },
  },
  'a separate git folder': { prepare: separate },
  'a separate git folder with core.worktree and worktreeConfig': {
    prepare: async (repository) => {
      await separate(repository)
      await configured(['core.worktree', repository.path], ['extensions.worktreeConfig', 'true'])(repository)
    },
  },
  'core.bare for all worktrees': {
    prepare: async (repository) => {
      await configured(['extensions.worktreeConfig', 'true'])(repository)
      await repository.git(['config', '--worktree', 'core.bare', 'false'])
      await configured(['core.bare', 'true'])(repository)
    },
  },
  'worktreeConfig alone': { prepare: configured(['extensions.worktreeConfig', 'true']) },
  'a .git file with a relative path': {
    prepare: async ({ path, beside }) => {
      await rename(join(path, '.git'), join(beside, 'moved.git'))
      await writeFile(join(path, '.git'), 'gitdir: ../beside/moved.git\n')
    },
  },
  'a linked worktree': {
    prepare: async ({ git, beside }) => {
      const linked = join(beside, 'linked')
      await git(['worktree', 'add', '--quiet', '-b', 'side', linked])
      return { project: linked }
    },
  },
  'a bare repository': {
    prepare: async (repository) => {
      const bare = await clone(repository, '--bare')
      return { project: bare, checkout: null, git_in: bare }
    },
  },
  'a symbolic base': {
    prepare: async ({ git }) => {
      await git(['symbolic-ref', 'refs/heads/trunk', 'refs/heads/main'])
      return { base: 'trunk' }
    },
  },
  'a HEAD that is symbolic twice': {
    prepare: async ({ git }) => {
      await git(['symbolic-ref', 'refs/heads/trunk', 'refs/heads/main'])
      await git(['symbolic-ref', 'HEAD', 'refs/heads/trunk'])
    },
  },
  'copied files that are not ignored': {
    prepare: ({ write }) => write({ '.env': 'SECRET=1\n' }),
    settings: { copy_files: ['.env'] },
  },
  'a copied file that the agent changes': {
    prepare: ({ write }) => write({ 'local.conf': 'port=1\n' }),
    settings: { copy_files: ['local.conf'] },
    agent: 'echo port=2 > local.conf',
    diff: ['local.conf'],
    merge: 'merge_target_dirty',
  },
  'a change behind skip-worktree': {
    prepare: (repository) => hide(repository, 'skip-worktree'),
    agent: 'echo theirs > README.md',
    diff: ['README.md'],
    merge: 'merge_target_dirty',
  },
  'a change behind assume-unchanged': {
    prepare: (repository) => hide(repository, 'assume-unchanged'),
    agent: 'echo theirs > README.md',
    diff: ['README.md'],
    merge: 'merge_target_dirty',
  },
  'a hidden change of another file': { prepare: (repository) => hide(repository, 'skip-worktree') },
  'a lock file committed by force': { agent: `${work}; git add -f .svc.lock && git commit -qm Lock` },
  'another encoding': {
    prepare: configured(['i18n.commitEncoding', 'ISO-8859-1'], ['i18n.logOutputEncoding', 'UTF-16']),
  },
  'commits signed by a program that fails': {
    prepare: configured(['commit.gpgSign', 'true'], ['gpg.program', 'false']),
    agent: work.replace('commit', 'commit --no-gpg-sign'),
  },
  'merges signed if possible': { settings: { sign_merges: 'try' } },
  'merges signed always, without a key': {
    prepare: configured(['gpg.format', 'ssh']),
    settings: { sign_merges: 'require' },
    merge: 'merge_failed',
  },
  'SHA-256': {
    prepare: async ({ git, path, commit }) => {
      await rm(join(path, '.git'), { recursive: true })
      await git(['init', '--quiet', '--initial-branch=main', '--object-format=sha256'])
      await configured(['user.name', 'x'], ['user.email', 'x@copse.test'])({ git } as TestRepository)
      await commit('First', {})
    },
  },
  reftable: {
    prepare: async ({ git, path, commit }) => {
      if (!hasReftable)
        return configured(
          ['core.repositoryFormatVersion', '1'],
          ['extensions.refStorage', 'reftable'],
        )({
          git,
        } as TestRepository)
      await rm(join(path, '.git'), { recursive: true })
      await git(['init', '--quiet', '--initial-branch=main', '--ref-format=reftable'])
      await configured(['user.name', 'x'], ['user.email', 'x@copse.test'])({ git } as TestRepository)
      await commit('First', {})
    },
    ...(!hasReftable && { refused: 'not_a_git_repository' }),
  },
  'an unknown extension': {
    prepare: configured(['core.repositoryFormatVersion', '1'], ['extensions.ofTomorrow', 'true']),
    refused: 'not_a_git_repository',
  },
  preciousObjects: {
    prepare: configured(['core.repositoryFormatVersion', '1'], ['extensions.preciousObjects', 'true']),
  },
  'a partial clone': {
    prepare: async (repository) => {
      await repository.git(['config', 'uploadpack.allowFilter', 'true'])
      return at(await clone(repository, '--filter=blob:none'))
    },
  },
  'a shallow clone': {
    prepare: async (repository) => {
      await repository.commit('Second', { 'second.txt': '2\n' })
      return at(await clone(repository, '--depth=1'))
    },
  },
  'objects borrowed from another repository': {
    prepare: async (repository) => at(await clone(repository, '--shared')),
  },
  'a sparse checkout': {
    prepare: async ({ git, commit }) => {
      await commit('Folders', { 'in/a.txt': 'a\n', 'out/b.txt': 'b\n' })
      await git(['sparse-checkout', 'set', 'in'])
    },
    agent: `${work}; echo 3 > in/a.txt`,
    diff: ['in/a.txt', ...usual],
  },
  grafts: {
    prepare: async ({ git, commit, path }) => {
      await commit('Second', { 'second.txt': '2\n' })
      await writeFile(join(path, '.git/info/grafts'), `${await git(['rev-parse', 'HEAD'])}\n`)
    },
  },
  'replaced objects': {
    prepare: async ({ git, commit }) => {
      const first = await git(['rev-parse', 'HEAD'])
      await git(['replace', await commit('Second', { 'second.txt': '2\n' }), first])
    },
  },
  'names that differ in case': {
    prepare: async ({ commit }) => void (await commit('Case', { 'readme.md': 'small\n' })),
  },
  'decomposed names': {
    agent: `${work}; printf x > "$(printf 'u\\314\\210.txt')"`,
    diff: ['more.txt', 'u\u0308.txt', 'work.txt'],
  },
  'line ends and quotes in names': {
    prepare: async ({ commit }) => void (await commit('Odd', { 'a\nb "c" \\.txt': 'x\n' })),
    agent: `${work}; echo y > "$(printf 'a\\nb "c" \\\\.txt')"`,
    diff: ['a\nb "c" \\.txt', ...usual],
  },
  'names of 255 bytes': {
    agent: `${work}; echo x > ${'n'.repeat(255)}`,
    diff: ['more.txt', 'n'.repeat(255), 'work.txt'],
  },
  'a path through a link': {
    prepare: async ({ path, beside }) => {
      await symlink(path, join(beside, 'link'))
      return { project: join(beside, 'link') }
    },
  },
  'objects that can’t be written to': {
    prepare: async ({ git, path }) => {
      await git(['gc', '--quiet'])
      for (const name of readdirSync(join(path, '.git/objects/pack')))
        chmodSync(join(path, '.git/objects/pack', name), 0o400)
    },
  },
  'packed refs only': { prepare: async ({ git }) => void (await git(['pack-refs', '--all', '--prune'])) },
  'a tag with the name of the branch': {
    prepare: async ({ git, commit }) => {
      await commit('Second', { 'second.txt': '2\n' })
      await git(['tag', 'main', 'HEAD~'])
    },
  },
  'a detached HEAD': { prepare: async ({ git }) => void (await git(['switch', '--quiet', '--detach'])) },
  'a HEAD without a commit': {
    prepare: async ({ git }) => void (await git(['symbolic-ref', 'HEAD', 'refs/heads/unborn'])),
  },
  'a branch with empty commits only': { agent: 'git commit -q --allow-empty -m Nothing', diff: [] },
  'filters for large files': {
    prepare: async (repository) => {
      await filters(repository)
      await repository.commit('Filtered', { '.gitattributes': '*.bin filter=big\n', 'a.bin': 'large\n' })
    },
    agent: 'echo "more large" >> a.bin',
    diff: ['a.bin'],
  },
  'line ends of Windows': {
    prepare: async (repository) => {
      await configured(['core.autocrlf', 'true'])(repository)
      await repository.commit('Windows', { 'w.txt': 'a\r\nb\r\n' })
    },
    agent: `${work}; printf 'a\\r\\nc\\r\\n' > w.txt`,
    diff: [...usual.slice(0, 1), 'w.txt', 'work.txt'],
  },
  'core.fileMode off': {
    prepare: configured(['core.fileMode', 'false']),
    agent: `${work}; chmod +x README.md`,
  },
  'attributes outside of the tree': {
    prepare: ({ path }) => writeFile(join(path, '.git/info/attributes'), '* -text -diff merge=ours\n'),
  },
  'hooks that all fail': {
    prepare: async ({ path }) => {
      for (const hook of failingHooks)
        await writeFile(join(path, '.git/hooks', hook), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
    },
    agent: work.replace('commit', 'commit --no-verify'),
  },
  'a hooks folder elsewhere': {
    prepare: async (repository) => {
      const hooks = join(repository.beside, 'hooks')
      await mkdir(hooks)
      await writeFile(join(hooks, 'post-checkout'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
      await configured(['core.hooksPath', hooks])(repository)
    },
  },
  'a left lock of the index': {
    prepare: ({ path }) => writeFile(join(path, '.git/index.lock'), ''),
    merge: 'merge_failed',
  },
  'a file monitor that fails': {
    prepare: configured(['core.fsmonitor', 'false; exit 1'], ['core.untrackedCache', 'true']),
  },
  'a split index': {
    prepare: async (repository) => {
      await configured(['core.splitIndex', 'true'], ['index.version', '4'], ['feature.manyFiles', 'true'])(repository)
      await repository.git(['update-index', '--split-index'])
    },
  },
  'a file of 130 MB': { agent: `${work}; head -c 136314880 /dev/zero > big.bin`, diff: ['big.bin', ...usual] },
  'submodules that follow every command': {
    prepare: async ({ git, commit, beside }) => {
      const inner = join(beside, 'inner')
      await git(['init', '--quiet', '--initial-branch=main', inner])
      await commit('Inner', { 'inner.txt': 'x\n' }, inner)
      await git(['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner, 'inner'])
      await git(['commit', '--quiet', '-m', 'Submodule'])
      await git(['config', 'submodule.recurse', 'true'])
    },
  },
  'changes of the user’s elsewhere': {
    prepare: async ({ write, git, commit }) => {
      await commit('Files', { 'a.txt': 'a\n', 'b.txt': 'b\n' })
      await write({ 'a.txt': 'staged\n', 'new.txt': 'untracked\n' })
      await git(['add', 'a.txt'])
      await write({ 'a.txt': 'changed\n', 'b.txt': 'changed\n' })
    },
  },
  'options for merges and pulls': {
    prepare: configured(
      ['merge.ff', 'only'],
      ['pull.rebase', 'true'],
      ['merge.conflictStyle', 'zdiff3'],
      ['diff.noprefix', 'true'],
      ['diff.renames', 'copies'],
      ['status.showUntrackedFiles', 'no'],
      ['commit.template', '/nowhere'],
      ['core.quotePath', 'true'],
      ['color.ui', 'always'],
    ),
  },
  'worktrees that are pruned at once': {
    prepare: configured(['gc.worktreePruneExpire', 'now'], ['gc.auto', '1'], ['gc.autoDetach', 'false']),
  },
}

const at = (place: string): Prepared => ({ project: place, checkout: place, git_in: place })
