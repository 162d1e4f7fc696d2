import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCgroup, sweepCgroups } from '../../../src-main/containment/cgroup.ts'
import { isLeft, ownName, removeTemporary, sweepTemporary } from '../../../src-main/platform/process/run-folders.ts'
import { childEnvironment } from '../../../src-main/platform/process/process-environment.ts'
import { spawnTree } from '../../../src-main/platform/process/process.ts'
import { startJob } from '../../helpers/job.ts'
import { containmentIn, folderOutside, isContainable } from './test-containment.ts'

const root = folderOutside('own')
const containment = containmentIn(root)
const runnable = isContainable(containment)

beforeAll(() => {
  mkdirSync(join(root, 'worktree'), { recursive: true })
})
afterAll(async () => {
  await containment.close()
  rmSync(root, { recursive: true, force: true })
})

async function outputOf(script: string, variables: Readonly<Record<string, string>> = {}): Promise<string> {
  const cwd = join(root, 'worktree')
  const box = await containment.box({ level: 'worktree', cwd, variables: Object.keys(variables) })
  const env = childEnvironment(variables)
  const tree = await spawnTree('sh', ['-c', script], { cwd, env, stdin: 'ignore', box: box ?? undefined })
  const [out] = await Promise.all([text(tree.stdout), text(tree.stderr)])
  await tree.ended
  return out.trim()
}

describe.runIf(runnable)('a contained run has its own', () => {
  it('variables, and those of the person that hold no key', async () => {
    process.env['DEPLOY_TOKEN'] = 'secret'
    process.env['GITHUB_TOKEN'] = 'secret'
    const names = '$DEPLOY_TOKEN,$GITHUB_TOKEN,$GIVEN,$HOME'
    expect(await outputOf(`echo "${names}"`, { GIVEN: 'told', GITHUB_TOKEN: 'secret' })).toBe(
      `,secret,told,${process.env['HOME'] ?? ''}`,
    )
    delete process.env['DEPLOY_TOKEN']
    delete process.env['GITHUB_TOKEN']
  })

  it.runIf(existsSync('/dev/shm'))(
    'worktree on disk; one in memory is refused, because its work would be lost',
    async () => {
      const inMemory = mkdtempSync('/dev/shm/copse-own-')
      try {
        await expect(containment.box({ level: 'auto', cwd: inMemory })).rejects.toThrow(
          `A contained run can’t see ${inMemory}. Move the repository`,
        )
        // Its commits would go there.
        const worktree = join(root, 'linked')
        const person = ['-c', 'user.name=Ada', '-c', 'user.email=ada@copse.test']
        execFileSync('git', ['init', '-q', inMemory])
        execFileSync('git', ['-C', inMemory, ...person, 'commit', '-q', '--allow-empty', '-m', 'First'])
        execFileSync('git', ['-C', inMemory, 'worktree', 'add', '-q', worktree])
        await expect(containment.box({ level: 'worktree', cwd: worktree })).rejects.toThrow(`can’t see ${inMemory}`)
      } finally {
        rmSync(inMemory, { recursive: true, force: true })
      }
    },
  )

  it('temporary folder, which is removed with everything in it', async () => {
    const folder = await outputOf('mkdir "$TMPDIR/a"; echo x > "$TMPDIR/a/b"; chmod 500 "$TMPDIR/a"; echo "$TMPDIR"')
    expect(folder).toContain(ownName(''))
    expect(existsSync(folder)).toBe(false)
  })

  it('control group where the machine has them, which ends with it', async ({ skip }) => {
    const possible = await createCgroup(ownName('possible'))
    await possible?.end()
    if (!possible) skip('no control group can be made here')
    const path = /^0::.*(\/copse-run-[^/\n]+)$/m.exec(await outputOf('cat /proc/self/cgroup; sleep 100 &'))?.[1]
    expect(path).toContain(ownName(''))
    expect(existsSync(join(possible?.procs ?? '', '..', '..', path ?? ''))).toBe(false)
  })
})

it.runIf(runnable)('starts a run where no program can listen at the service’s address', async () => {
  const privileged = containmentIn(root, { apiUrl: () => 'http://127.0.0.1:80' })
  const cwd = join(root, 'worktree')
  const box = (await privileged.box({ level: 'worktree_and_hosts', cwd })) ?? undefined
  const tree = await spawnTree('echo', ['started'], { cwd, env: childEnvironment({}), stdin: 'ignore', box })
  const [out] = await Promise.all([text(tree.stdout), text(tree.stderr)])
  await tree.ended
  await privileged.close()
  expect(out).toBe('started\n')
})

describe('leftovers of a killed service', () => {
  const dead = (): number => Number(execFileSync('sh', ['-c', 'echo $$'], { encoding: 'utf8' }))

  it('are removed by the next one, but not those of a running service', async () => {
    const left = join(tmpdir(), `copse-run-${dead()}-left`)
    const live = join(tmpdir(), `copse-run-${process.ppid}-live`)
    for (const folder of [left, live]) mkdirSync(folder)
    writeFileSync(join(left, 'file'), '')
    chmodSync(left, 0o500)
    const group = await createCgroup(`copse-run-${dead()}-left`)
    await sweepTemporary()
    await sweepCgroups(isLeft)
    expect([left, live].map((folder) => existsSync(folder))).toEqual([false, true])
    if (group) expect(existsSync(join(group.procs, '..'))).toBe(false)
    await removeTemporary(live)
  })
})

it.runIf(runnable)('passes to an agent the variables of its own model only', async () => {
  process.env['ANTHROPIC_API_KEY'] = 'model'
  await using job = await startJob()
  const config = {
    command: 'echo "[$ANTHROPIC_API_KEY][$MINE]" > seen.txt',
    env: { MINE: 'given' },
    containment: 'worktree' as const,
  }
  const agent = await job.running.client.call('agents.create', { name: 'Shell', executor: 'command', config })
  const { task, path } = await job.claim(await job.task(), agent)
  await job.running.taskWhere(task.id, ({ status }) => status === 'review')
  expect(readdirSync(path)).toContain('seen.txt')
  expect(execFileSync('cat', [join(path, 'seen.txt')], { encoding: 'utf8' })).toBe('[][given]\n')
  delete process.env['ANTHROPIC_API_KEY']
})
