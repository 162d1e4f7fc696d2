import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ProjectSettings } from '../../../src-shared/contract/projects.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { ended, hookRunWhere, script, setHooks } from '../../helpers/lifecycle.ts'
import { containmentIn, folderOutside, isContainable } from './test-containment.ts'

const root = folderOutside('scripts')
const home = join(root, 'home')
const outside = join(root, 'outside')
const homeBefore = process.env['HOME']

beforeAll(() => {
  process.env['HOME'] = home
})

beforeEach(() => {
  for (const folder of [home, outside]) rmSync(folder, { recursive: true, force: true })
  for (const [path, text] of [
    [join(home, '.ssh', 'id'), 'key'],
    [join(home, '.claude', '.credentials.json'), 'sign-in'],
    [join(home, '.npm', 'kept'), 'cached'],
    [join(outside, 'file'), 'mine'],
  ] as const) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
})

afterAll(() => {
  if (homeBefore === undefined) delete process.env['HOME']
  else process.env['HOME'] = homeBefore
  rmSync(root, { recursive: true, force: true })
})

/** Each attempt prints whether it worked; the lines are joined to one word. */
const attempts = {
  key: 'grep -q key ~/.ssh/id',
  signIn: 'grep -q sign-in ~/.claude/.credentials.json',
  outside: `echo escaped > ${outside}/new`,
  config: 'git config core.hooksPath /tmp/x',
  npm: 'grep -q cached ~/.npm/kept && echo new > ~/.npm/new',
  temporary: 'f=$(mktemp) && echo x > "$f" && grep -q x "$f"',
  worktree: 'echo made > made.txt',
  git: 'git status --porcelain && git log -1 --format=%s',
}
const probe = Object.entries(attempts)
  .map(([name, line]) => `if { ${line}; } >/dev/null 2>&1; then echo ${name}; fi`)
  .join('\n')
const everything = Object.keys(attempts)
// The configuration that a contained script writes is gone with it.
const harmless = ['config', 'npm', 'temporary', 'worktree', 'git']
const tell = (name: string) => `sh ./probe.sh > told-${name}.txt`

async function startProbe(containment: Partial<ProjectSettings>): Promise<Job> {
  const job = await startJob({ files: { 'probe.sh': probe, 'README.md': 'read me\n' } })
  await job.settings(containment)
  return job
}

const toldIn = (path: string, name: string) =>
  readFileSync(join(path, `told-${name}.txt`), 'utf8')
    .trim()
    .split('\n')

/** Every kind of script of a project, and what each could do. */
const kinds: Readonly<Record<string, (job: Job) => Promise<readonly string[]>>> = {
  'a setup command': async (job) => {
    await job.settings({ setup_commands: [tell('setup')] })
    const { path } = await job.claim(await job.task(), await job.agent('true'))
    return toldIn(path, 'setup')
  },
  'a CI step': async (job) => {
    const task = await job.task({ review_config: { ci_steps: [tell('ci')], review_prompt: null } })
    const { path } = await job.claim(task, await job.agent('echo work > work.txt'))
    await job.running.eventually(
      () => job.running.client.call('tasks.get', { task_id: task.id }),
      ({ review_summary }) => review_summary?.steps[0] === 'passed',
    )
    return toldIn(path, 'ci')
  },
  'a hook of the project': async (job) => {
    await setHooks(job, { before_work: [script('sh ./probe.sh', { blocking: true })] })
    const task = await job.task()
    await job.claim(task, await job.agent('true'))
    const { stdout } = await hookRunWhere(job, task.id, ended('before_work'))
    return stdout.trim().split('\n')
  },
  'the script of a state': async (job) => {
    const { client } = job.running
    const { traits: _traits, ...standard } = await client.call('projects.get_workflow', { project_id: job.project.id })
    const states = standard.states.map((state) =>
      state.kind === 'active'
        ? { ...state, hooks: { ...state.hooks, after_enter: [{ script: tell('state') }] } }
        : state,
    )
    const workflow_definition = JSON.stringify({ ...standard, states })
    await client.call('projects.update', { project_id: job.project.id, workflow_definition })
    const task = await job.task()
    const { path } = await job.claim(task, await job.agent('true'))
    await job.running.eventually(
      () => client.call('tasks.transitions', { task_id: task.id }),
      () => existsSync(join(path, 'told-state.txt')) && toldIn(path, 'state').includes('git'),
    )
    return toldIn(path, 'state')
  },
  'a test of a hook': async (job) => {
    const { stdout } = await job.running.client.call('projects.test_hook', {
      project_id: job.project.id,
      event: 'before_work',
      hook: script('sh ./probe.sh'),
    })
    return stdout.trim().split('\n')
  },
}

describe.runIf(isContainable(containmentIn(root)))('scripts of a project with ci_containment', () => {
  it.each(Object.entries(kinds))('run %s and reach nothing else', async (_name, told) => {
    await using job = await startProbe({ ci_containment: 'worktree' })
    expect(await told(job)).toEqual(harmless)
    await expect(job.repository.git(['config', 'core.hooksPath'])).rejects.toThrow()
    expect(existsSync(join(outside, 'new'))).toBe(false)
    expect(existsSync(join(home, '.npm', 'new'))).toBe(true)
  })

  it.each(Object.entries(kinds))('run %s without limits where not contained', async (_name, told) => {
    await using job = await startProbe({ ci_containment: 'none' })
    expect(await told(job)).toEqual(everything)
  })

  it('read and write extra paths', async () => {
    await using job = await startProbe({
      ci_containment: 'worktree',
      extra_paths: { read: ['~/.ssh/id'], write: [outside] },
    })
    expect(await kinds['a CI step']?.(job)).toEqual(['key', 'outside', ...harmless])
  })
})
