import { existsSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import type { TaskId } from '../../../src-shared/contract/ids.ts'
import { isOwnMove } from '../../../src-main/git/commands/own-moves.ts'
import { createWorkspaces } from '../../helpers/whole-git.ts'
import { createGitViews } from '../../../src-main/git/view/git-views.ts'
import { childEnvironment } from '../../../src-main/platform/process/process-environment.ts'
import { spawnTree } from '../../../src-main/platform/process/process.ts'
import { createTestRepository, type TestRepository } from '../../helpers/git-repository.ts'
import { startJob } from '../../helpers/job.ts'
import { containmentIn, folderOutside, isContainable } from './test-containment.ts'

const runnable = isContainable(containmentIn(tmpdir()))

interface Bench extends AsyncDisposable {
  readonly repository: TestRepository
  readonly git: (...args: string[]) => Promise<string>
  readonly worktree: string
  /** Runs a shell script contained in the worktree; resolves to its output and exit code once all is taken over. */
  run(script: string): Promise<{ readonly out: string; readonly code: number; readonly denied: readonly string[] }>
  readonly views: ReturnType<typeof createGitViews>
}

async function startBench(branch = 'own'): Promise<Bench> {
  const repository = await createTestRepository()
  const root = folderOutside('view')
  const dataDir = join(root, 'data')
  const worktree = join(dataDir, 'workspaces', 'own')
  const git = (...args: string[]) => repository.git(args)
  await git('config', 'gc.auto', '0')
  await git('branch', 'other')
  await git('tag', '-m', 'one', 'v1')
  await git('checkout', '-q', '--detach')
  await git('worktree', 'add', '-q', '-b', branch, worktree, 'main')
  const views = createGitViews({ dataDir })
  views.expect(worktree, branch)
  const containment = containmentIn(root, { views })
  return {
    repository,
    git,
    worktree,
    views,
    run: async (script) => {
      const denied: string[] = []
      const box = await containment.box({
        level: 'worktree',
        cwd: worktree,
        onDenied: ({ target }) => denied.push(target),
      })
      const env = childEnvironment({})
      const tree = await spawnTree('bash', ['-ec', script], {
        cwd: worktree,
        env,
        stdin: 'ignore',
        box: box ?? undefined,
      })
      const [out, err] = await Promise.all([text(tree.stdout), text(tree.stderr)])
      const { exit_code: code } = await tree.ended
      return { out: `${out}${err}`.trim(), code, denied }
    },
    [Symbol.asyncDispose]: async () => {
      await containment.close()
      await repository[Symbol.asyncDispose]()
      await rm(root, { recursive: true, force: true })
    },
  }
}

const refs = async ({ git }: Bench): Promise<Record<string, string>> => {
  const lines = (await git('for-each-ref', '--format=%(refname) %(objectname)%(symref)')).split('\n')
  return Object.fromEntries(lines.map((line) => line.split(' ') as [string, string]))
}

describe.runIf(runnable)('a contained run', () => {
  it.each([
    ['a branch', 'git update-ref refs/heads/main HEAD'],
    ['a branch by its file', 'git rev-parse HEAD > "$(git rev-parse --git-common-dir)/refs/heads/main"'],
    ['a branch by force', 'git branch -f other HEAD'],
    ['a branch that it deletes', 'git branch -D other'],
    ['a tag', 'git tag -f v1 HEAD'],
    ['a new tag', 'git tag v2'],
    [
      'HEAD of the person’s checkout',
      'git --git-dir="$(git rev-parse --git-common-dir)" symbolic-ref HEAD refs/heads/other',
    ],
    ['a remote branch', 'git update-ref refs/remotes/origin/main HEAD'],
    ['a replaced object', 'git replace HEAD~ HEAD'],
    ['the configuration', 'git config core.hooksPath /tmp/x'],
    ['a hook', 'd="$(git rev-parse --git-common-dir)/hooks"; mkdir -p "$d"; echo exit > "$d/post-commit"'],
    ['attributes', 'd="$(git rev-parse --git-common-dir)/info"; mkdir -p "$d"; echo "* -text" > "$d/attributes"'],
    [
      'objects elsewhere',
      'o="$(git rev-parse --git-path objects)"; cp -r $o x; echo "$PWD/x" >> $o/info/alternates; git -C x/.. status -s; rm -r x',
    ],
    [
      'the list of packed refs',
      'git pack-refs --all --prune; git update-ref refs/heads/main HEAD; git pack-refs --all',
    ],
    [
      'its branch as a name for another one',
      'git symbolic-ref refs/heads/own refs/heads/main; git commit -q --allow-empty -m through',
    ],
  ])('can’t move what is not its own: %s', async (_what, line) => {
    await using bench = await startBench()
    const common = join(bench.repository.path, '.git')
    const look = async () => ({
      ...(await refs(bench)),
      head: await readFile(join(common, 'HEAD'), 'utf8'),
      config: await readFile(join(common, 'config'), 'utf8'),
      hook: existsSync(join(common, 'hooks', 'post-commit')),
      alternates: existsSync(join(common, 'objects', 'info', 'alternates')),
      attributes: existsSync(join(common, 'info', 'attributes')),
    })
    const before = await look()
    const { out, code } = await bench.run(`echo work > work.txt; git add -A; git commit -qm work; ${line}`)
    expect(code, out).toBe(0)
    const after = Object.entries(await look()).filter(([name]) => !name.startsWith('refs/svc/left/own/'))
    const own = await bench.git('rev-parse', 'own')
    expect(Object.fromEntries(after)).toEqual({ ...before, 'refs/heads/own': own })
    expect(await bench.git('show', 'own:work.txt')).toBe('work')
    expect(await bench.git('-C', bench.worktree, 'status', '--porcelain')).toBe('')
    await bench.git('fsck', '--strict')
  })

  it('uses git as without containment', async () => {
    await using bench = await startBench()
    const { out, code } = await bench.run(`
      git log -1 --format=%s main
      git describe v1
      echo one > one.txt; git add -A; git commit -qm one
      echo two > two.txt; git stash -qu; git stash pop -q; git add -A; git commit -q --amend -m both
      git checkout -qb side; echo side > side.txt; git add -A; git commit -qm side
      git checkout -q own; git merge -q --no-ff -m merged side; git branch -D side
      git commit -q --allow-empty -m again; git reset -q --hard HEAD~
      git rebase -q main; git gc -q; git fsck --no-progress
      git worktree list | wc -l; git diff main --stat | tail -1; git status --porcelain`)
    expect(code, out).toBe(0)
    expect(await bench.git('log', '--format=%s', 'main..own')).toBe('side\nboth')
    expect(await bench.git('-C', bench.worktree, 'status', '--porcelain')).toBe('')
    expect(Object.keys(await refs(bench)).filter((ref) => ref.startsWith('refs/svc/'))).toEqual([])
    await bench.git('fsck', '--strict')
  })

  it('leaves branches, stash entries and a moved base where they are found, and finds them again', async () => {
    await using bench = await startBench()
    const first = await bench.run(`
      git checkout -qb feature; echo f > f.txt; git add -A; git commit -qm feature
      git checkout -q own
      echo s > s.txt; git add -A; git stash -q
      git update-ref refs/heads/main feature`)
    expect(first.code, first.out).toBe(0)
    const left = Object.entries(await refs(bench)).filter(([ref]) => ref.startsWith('refs/svc/left/own/'))
    const subjects = await Promise.all(
      left.map(async ([ref, commit]) => [
        ref.replace(commit, 'ID'),
        await bench.git('log', '-1', '--format=%s', commit),
      ]),
    )
    expect(Object.fromEntries(subjects)).toEqual({
      'refs/svc/left/own/heads/feature': 'feature',
      'refs/svc/left/own/heads/main': 'feature',
      'refs/svc/left/own/stash/ID': expect.stringMatching(/^WIP on own/),
    })
    const second = await bench.run(
      'git merge -q feature; git branch -D feature; git stash pop -q; git add -A; git commit -qm popped',
    )
    expect(second.code, second.out).toBe(0)
    expect(await bench.git('log', '--format=%s', 'main..own')).toBe('popped\nfeature')
    expect(Object.keys(await refs(bench)).filter((ref) => ref.startsWith('refs/svc/'))).toEqual([
      'refs/svc/left/own/heads/main',
    ])
  })

  it('works on branches whose names are not ASCII', async () => {
    await using bench = await startBench('svc/voilà')
    const { out, code } = await bench.run(`
      git commit -q --allow-empty -m first; git log -1 --format=%s svc/voilà
      git checkout -qb nächste-voilà; git commit -q --allow-empty -m next; git checkout -q svc/voilà`)
    expect({ out, code }).toEqual({ out: 'first', code: 0 })
    const tip = await bench.git('rev-parse', 'svc/voilà')
    expect(await bench.git('log', '-1', '--format=%s', tip)).toBe('first')
    expect(isOwnMove('refs/heads/svc/voilà', tip, 0)).toBe(true)
    expect(await bench.git('-C', bench.worktree, 'branch', '--show-current')).toBe('svc/voilà')
    expect(await bench.git('log', '-1', '--format=%s', 'refs/svc/left/own/heads/nächste-voilà')).toBe('next')
  })

  it('moves its branch as Copse does, not as another run that goes on at the same time', async () => {
    await using bench = await startBench()
    await bench.run('git commit -q --allow-empty -m work')
    expect(isOwnMove('refs/heads/own', await bench.git('rev-parse', 'own'), 0)).toBe(true)
  })

  it('ends on a HEAD that the repository knows', async () => {
    await using bench = await startBench()
    const head = () => bench.git('-C', bench.worktree, 'log', '-1', '--format=%s')
    await bench.run('git checkout -qb mine; git commit -q --allow-empty -m mine')
    expect([await head(), await bench.git('-C', bench.worktree, 'branch', '--show-current')]).toEqual(['mine', ''])
    await bench.run('git checkout -q own; git checkout -q --orphan bare; git rm -rfq .')
    expect(await bench.git('-C', bench.worktree, 'branch', '--show-current')).toBe('own')
    await bench.run('git reset -q --hard; git checkout -q --detach; git commit -q --allow-empty -m detached')
    expect(await head()).toBe('detached')
  })

  it('brings no object that git finds broken, but the whole ones of its branch', async () => {
    await using bench = await startBench()
    const { out, code } = await bench.run(`
      echo work > work.txt; git add -A; git commit -qm work
      o="$(git rev-parse --git-path objects)"; mkdir -p $o/ab; echo broken > $o/ab/${'c'.repeat(38)}`)
    expect(code, out).toBe(0)
    expect(await bench.git('show', 'own:work.txt')).toBe('work')
    await bench.git('fsck', '--strict')
  })

  it('brings no branch whose objects are broken, and says so', async () => {
    await using bench = await startBench()
    const before = await refs(bench)
    const { denied } = await bench.run(
      `t=$(printf '100644 .git\\0aaaaaaaaaaaaaaaaaaaa' | git hash-object -t tree -w --stdin --literally); git update-ref refs/heads/own $(git commit-tree -p HEAD -m bad $t)`,
    )
    expect(await refs(bench)).toEqual(before)
    expect(denied).toContain('refs/heads/own')
  })

  /** Trees that git would check out outside of a worktree, into a git folder, or that run a program. */
  it.each([
    ['a folder of git', '40000 .git'],
    ['one in capitals', '40000 .GIT'],
    ['its short name', '40000 git~1'],
    ['one with letters that a Mac ignores', String.raw`40000 .g\u200cit`],
    ['the folder above', '40000 ..'],
    ['its own folder', '40000 .'],
    ['a path in a name', '40000 a/../../b'],
    [
      'a submodule whose address is an option',
      '100644 .gitmodules',
      '[submodule "x"]\\n\\tpath = x\\n\\turl = --upload-pack=x\\n',
    ],
    ['a submodule that leads out', '100644 .gitmodules', '[submodule "../../x"]\\n\\tpath = x\\n\\turl = ./x\\n'],
    ['a link for the submodules', '120000 .gitmodules', '/etc/passwd'],
  ])('brings no tree with %s', async (_what, entry, content = 'x') => {
    await using bench = await startBench()
    const before = await refs(bench)
    const { denied } = await bench.run(`
      case '${entry}' in 40000*) o=$(git rev-parse 'HEAD^{tree}');; *) o=$(printf '${content}' | git hash-object -w --stdin);; esac
      t=$( (printf '${entry}\\0'; printf "$(echo $o | sed 's/../\\\\x&/g')") | git hash-object -t tree -w --stdin --literally)
      git update-ref refs/heads/own $(git commit-tree -p HEAD -m bad $t)`)
    expect(await refs(bench)).toEqual(before)
    expect(denied).toContain('refs/heads/own')
  })

  it('takes no ref by a name that leads elsewhere', async () => {
    await using bench = await startBench()
    const before = await refs(bench)
    const { code, out } = await bench.run(`
      git commit -q --allow-empty -m work; c=$(git rev-parse HEAD); d=$(git rev-parse --git-common-dir)
      mkdir -p $d/refs/heads/x.lock; echo $c > $d/refs/heads/x.lock/y; echo $c > "$d/refs/heads/-f"; echo $c > "$d/refs/heads/a b"
      printf "%s refs/heads/../../config\\n%s refs/svc/rescue/x/1\\n%s refs/heads/ok/../main\\n" $c $c $c >> $d/packed-refs
      ln -s ../../config $d/refs/heads/linked; echo 'ref: refs/heads/main' > $d/refs/heads/symbolic; echo 'ref: ../../../x' > $d/refs/heads/out
      ln -s $d/refs/heads $d/refs/heads/loop; mkdir -p $d/worktrees/fake; echo /etc > $d/worktrees/fake/gitdir; echo $c > $d/MERGE_HEAD; echo x > $d/commondir`)
    expect(code, out).toBe(0)
    const after = Object.entries(await refs(bench)).filter(([name]) => !name.startsWith('refs/svc/left/own/heads/'))
    expect(Object.fromEntries(after)).toEqual({ ...before, 'refs/heads/own': await bench.git('rev-parse', 'own') })
    const common = join(bench.repository.path, '.git')
    expect(['commondir', 'MERGE_HEAD', 'worktrees/fake'].filter((name) => existsSync(join(common, name)))).toEqual([])
    expect(await bench.git('config', 'user.name')).not.toBe('')
    await bench.git('fsck', '--strict')
  })

  it('reads no other repository by a link in its view', async () => {
    await using bench = await startBench()
    await using other = await createTestRepository({ files: { 'secret.txt': 'not for runs' } })
    const secret = await other.git(['rev-parse', 'HEAD:secret.txt'])
    const folder = join(other.path, '.git', 'objects', secret.slice(0, 2))
    await bench.run(
      `o="$(git rev-parse --git-path objects)"; ln -s ${folder} $o/${secret.slice(0, 2)}; mkfifo $o/pack/pack-${'a'.repeat(40)}.idx; git commit -q --allow-empty -m work`,
    )
    await expect(bench.git('cat-file', '-e', secret)).rejects.toThrow()
    expect(existsSync(folder)).toBe(true)
    expect(await bench.git('log', '-1', '--format=%s', 'own')).toBe('work')
  })

  it('keeps what it left as a rescue when its worktree goes', async () => {
    await using bench = await startBench()
    await bench.run('git checkout -qb aside; git commit -q --allow-empty -m aside; git checkout -q own')
    const task_id = 'own' as TaskId
    const request = { repo_path: bench.repository.path, path: bench.worktree, task_id }
    await createWorkspaces({ views: bench.views }).remove(request, { signal: AbortSignal.timeout(60_000) })
    const kept = Object.entries(await refs(bench)).filter(([ref]) => ref.startsWith('refs/svc/'))
    expect(kept).toEqual([[expect.stringMatching(/^refs\/svc\/rescue\/own\//), expect.anything()]])
    expect(await bench.git('log', '-1', '--format=%s', kept[0]?.[1] ?? '')).toBe('aside')
  })

  it('keeps what could not be taken over, and takes it before the next run and at the next start', async () => {
    await using bench = await startBench()
    const lock = join(bench.repository.path, '.git', 'refs', 'heads', 'own.lock')
    const subject = () => bench.git('log', '-1', '--format=%s', 'own')
    const commitRefused = async (message: string) => {
      await writeFile(lock, '')
      const { denied } = await bench.run(`git commit -q --allow-empty -m ${message}`)
      expect(denied).toContain('refs/heads/own')
      await rm(lock)
    }
    await commitRefused('one')
    expect((await bench.run('git log -1 --format=%s')).out).toBe('one')
    expect(await subject()).toBe('one')
    await commitRefused('two')
    await createGitViews({ dataDir: join(bench.worktree, '..', '..') }).takeOver()
    expect(await subject()).toBe('two')
  })

  it('is taken over by the next service after a crash', async () => {
    await using bench = await startBench()
    const view = await bench.views.open(bench.worktree)
    const [mount] = view?.mounts ?? []
    const inView = mount?.from ?? ''
    // What the killed run did, as it lies in the view.
    const env = {
      GIT_COMMON_DIR: inView,
      GIT_OBJECT_DIRECTORY: join(inView, 'objects'),
      GIT_ALTERNATE_OBJECT_DIRECTORIES: join(bench.repository.path, '.git', 'objects'),
    }
    const commit = await bench.repository.git(['commit-tree', '-m', 'crashed', '-p', 'own', 'own^{tree}'], { env })
    await writeFile(join(inView, 'refs', 'heads', 'own'), `${commit}\n`)
    const next = createGitViews({ dataDir: join(bench.worktree, '..', '..') })
    await next.takeOver()
    expect(await bench.git('log', '-1', '--format=%s', 'own')).toBe('crashed')
    expect(existsSync(join(inView, '..'))).toBe(false)
  })
})

it.runIf(runnable)('shows a contained run’s commits while it works', async () => {
  await using job = await startJob()
  const go = join(job.repository.beside, 'go')
  const agent = await job.running.client.call('agents.create', {
    name: 'Slow',
    executor: 'command',
    config: {
      containment: 'worktree',
      extra_paths: { read: [job.repository.beside] },
      command: `echo work > work.txt; git add -A; git commit -qm work; touch ready.txt; until [ -e ${go} ]; do sleep 0.05; done`,
    },
  })
  const { task, path } = await job.claim(await job.task(), agent)
  await expect.poll(() => existsSync(join(path, 'ready.txt'))).toBe(true)
  const { items } = await job.running.client.call('tasks.commits', { task_id: task.id })
  expect(items.map(({ subject }) => subject)).toEqual(['work'])
  await writeFile(go, '')
  await job.running.taskWhere(task.id, ({ status, entry_barrier }) => status === 'review' && !entry_barrier)
})

it.runIf(runnable)('keeps the base where it is when a contained run moves it, though no checkout has it', async () => {
  await using job = await startJob()
  const { git } = job.repository
  await git(['checkout', '-q', '--detach'])
  const before = await git(['rev-parse', 'main'])
  const agent = await job.running.client.call('agents.create', {
    name: 'Mover',
    executor: 'command',
    config: {
      containment: 'worktree',
      command:
        'echo work > work.txt; git add -A; git commit -qm work; git update-ref refs/heads/main $(git commit-tree -m unreviewed -p main main^{tree})',
    },
  })
  const { task } = await job.claim(await job.task(), agent)
  await job.running.taskWhere(task.id, ({ status, entry_barrier }) => status === 'review' && !entry_barrier)
  expect(await git(['rev-parse', 'main'])).toBe(before)
  expect(await git(['log', '--format=%s', '-1', `refs/svc/left/${task.id}/heads/main`])).toBe('unreviewed')
})
