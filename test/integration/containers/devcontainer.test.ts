import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test, vi } from 'vitest'
import { withOwnIds } from '../../../src-main/containers/devcontainer/build-image.ts'
import { askEngine, findEngines } from '../../../src-main/containers/engine-client.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import type { NeededTrust } from '../../../src-shared/contract/runner-trust.ts'
import { useTestEngine } from '../../helpers/container-job.ts'
import { containersOf } from '../../helpers/containers-of.ts'
import {
  devcontainerImages,
  devcontainerText,
  startDevcontainerJob,
  type DevcontainerJob,
} from '../../helpers/devcontainer-job.ts'
import { present } from '../../helpers/present.ts'
import { refused } from '../../helpers/refusal.ts'

const found = await useTestEngine()
const engine = () => present(found)
const config = '.devcontainer/devcontainer.json'

const passed = (job: DevcontainerJob, task: Task) =>
  job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
const ended = async (job: DevcontainerJob, task: Task) => {
  const runs = await job.running.eventually(
    () => job.executions(task.id),
    (all) => all.length > 0 && all.every(({ status }) => status !== 'queued' && status !== 'running'),
  )
  return present(runs[0])
}
const needed = async (claim: Promise<unknown>): Promise<NeededTrust> => {
  const error = await refused(claim)
  expect(error).toMatchObject({ code: 'runner_needs_trust' })
  return error.details as NeededTrust
}

describe.skipIf(found === null)('a dev container', () => {
  test('is the project’s own, with its features, user, variables and commands', async () => {
    await using job = await startDevcontainerJob(
      engine(),
      {
        build: { dockerfile: 'Dockerfile' },
        features: { './marker': { word: 'hello' } },
        containerEnv: { MARK: '${containerWorkspaceFolderBasename}' },
        remoteEnv: { BOTH: '${containerEnv:MARK}+${containerEnv:ABSENT:none}', PATH: '${containerEnv:PATH}:/opt/made' },
        onCreateCommand: { one: 'echo one > /opt/made/one', two: ['sh', '-c', 'echo two > /opt/made/two'] },
        updateContentCommand: 'cat /opt/made/one /opt/made/two > /opt/made/both',
        postCreateCommand: 'pwd > /opt/made/where; git rev-parse --abbrev-ref HEAD > /opt/made/branch',
        postStartCommand: 'echo "$MARK" > /tmp/started; echo "to no one"',
      },
      {
        '.devcontainer/Dockerfile': `FROM ${engine().image}\nRUN mkdir -p /opt/made && echo built > /opt/made/built && printf '#!/bin/sh\\necho tool\\n' > /opt/made/tool && chmod +x /opt/made/tool\n`,
        '.devcontainer/marker/devcontainer-feature.json': JSON.stringify({
          id: 'marker',
          version: '1.0.0',
          options: { word: { type: 'string', default: 'none' } },
        }),
        '.devcontainer/marker/install.sh': '#!/bin/sh\necho "feature $WORD" > /opt/made/feature\n',
      },
    )
    expect(job.runner).toMatchObject({ state: 'ready', last_error: null })
    const all = 'cat /opt/made/built /opt/made/feature /opt/made/both /opt/made/where /tmp/started'
    const agent = await job.agent(
      `{ ${all}; echo "$BOTH"; tool; id -u; } > seen.txt; cat /opt/made/branch > branch.txt; git add -A; git commit -qm Work`,
    )
    const task = await job.task({ review_config: { ci_steps: [all] } })
    const { path } = await job.claim(task, agent)
    await passed(job, task)
    const id = path.split('/').at(-1) ?? ''
    const made = ['built', 'feature hello', 'one', 'two', path, id]
    expect((await readFile(join(path, 'seen.txt'), 'utf8')).split('\n')).toEqual([
      ...made,
      `${id}+none`,
      'tool',
      String(process.getuid?.()),
      '',
    ])
    expect(await job.repository.git(['show', `HEAD:branch.txt`], { cwd: path })).toBe(
      await job.repository.git(['branch', '--show-current'], { cwd: path }),
    )
    const { items: reviews } = await job.running.client.call('tasks.reviews', { task_id: task.id })
    expect(reviews[0]?.step_results[0]?.output_tail.trim().split('\n').slice(-6)).toEqual(made)
    const [execution] = await job.executions(task.id)
    expect(execution).toMatchObject({ runner_id: job.runner.id, containment: 'worktree' })
    expect(await containersOf(engine(), job.running.dataDir)).toEqual([])
    // One image of the project, and one that is ready for the worktree and ends with it.
    const images = async () => await devcontainerImages(engine().engine, job.running.dataDir)
    const first = await images()
    expect(first).toHaveLength(2)
    const { version } = await job.running.client.call('tasks.get', { task_id: task.id })
    await job.running.client.call('tasks.transition', { task_id: task.id, status: 'merging', version })
    await vi.waitUntil(() => !existsSync(path), { timeout: 30_000, interval: 20 })
    const next = await job.task()
    await job.claim(next, agent)
    await ended(job, next)
    const second = await images()
    expect(second).toHaveLength(2)
    expect(second.filter((name) => first.includes(name))).toHaveLength(1)
  })

  test('reaches the machine only as an admin has trusted, and is asked about again when it changes', async () => {
    await using job = await startDevcontainerJob(
      engine(),
      {
        image: engine().image,
        initializeCommand: './.devcontainer/prepare.sh',
        mounts: ['source=/etc/hostname,target=/opt/host-name,type=bind,readonly'],
        runArgs: ['--env=FROM_ARGS=yes'],
        containerEnv: { OWN: '${localEnv:COPSE_TEST_OF_DEV}' },
      },
      { '.devcontainer/prepare.sh': '#!/bin/sh\npwd > "$COPSE_TEST_OF_DEV"\nls README.md >> "$COPSE_TEST_OF_DEV"\n' },
    )
    const { client } = job.running
    const told = join(job.repository.beside, 'initialized.txt')
    process.env['COPSE_TEST_OF_DEV'] = told
    await job.repository.git(['update-index', '--chmod=+x', '.devcontainer/prepare.sh'])
    await job.repository.git(['commit', '-qm', 'Run it'])
    const agent = await job.agent(
      'cat /opt/host-name > name.txt; echo "$FROM_ARGS $OWN" > args.txt; git add -A; git commit -qm Work',
    )
    const task = await job.task()
    const first = await needed(job.claim(task, agent))
    expect(first).toMatchObject({ runner_id: job.runner.id, runner: 'Dev', project_id: job.project.id, path: config })
    expect(first.wants).toEqual([
      { kind: 'command', text: './.devcontainer/prepare.sh' },
      { kind: 'mount', text: 'source=/etc/hostname,target=/opt/host-name,type=bind,readonly' },
      { kind: 'privilege', text: 'runArgs --env=FROM_ARGS=yes' },
      { kind: 'variable', text: 'COPSE_TEST_OF_DEV' },
    ])
    expect(existsSync(told)).toBe(false)
    const trust = ({ sha256 }: NeededTrust, project_id = job.project.id) =>
      client.call('runners.trust', { runner_id: job.runner.id, project_id, sha256 })
    // A word about other content is none about this.
    await trust({ ...first, sha256: '0'.repeat(64) })
    expect((await needed(job.claim(task, agent))).sha256).toBe(first.sha256)
    await trust(first)
    const { path } = await job.claim(task, agent)
    await passed(job, task)
    expect(await readFile(join(path, 'name.txt'), 'utf8')).toBe(await readFile('/etc/hostname', 'utf8'))
    expect(await readFile(join(path, 'args.txt'), 'utf8')).toBe(`yes ${told}\n`)
    const [where = '', file] = (await readFile(told, 'utf8')).split('\n')
    expect(where).not.toContain(path)
    expect(file).toBe('README.md')
    expect(existsSync(where)).toBe(false)

    // Another file that the command names is another content; the worktree that is there keeps its base.
    await job.repository.commit('Change it', { '.devcontainer/prepare.sh': '#!/bin/sh\ntrue\n' })
    const second = await needed(job.claim(await job.task(), agent))
    expect(second.wants).toEqual(first.wants)
    expect(second.sha256).not.toBe(first.sha256)
  })

  test('is asked about for what its features want, once they are known', async () => {
    await using job = await startDevcontainerJob(
      engine(),
      { image: engine().image, features: { './rights': {} } },
      {
        '.devcontainer/rights/devcontainer-feature.json': JSON.stringify({
          id: 'rights',
          version: '1.0.0',
          capAdd: ['SYS_PTRACE'],
        }),
        '.devcontainer/rights/install.sh': '#!/bin/sh\ntrue\n',
      },
    )
    const agent = await job.agent('grep CapBnd /proc/self/status > caps.txt; git add -A; git commit -qm Work')
    const task = await job.task()
    const run = await job.claim(task, agent).then(() => ended(job, task))
    expect(run.status).toBe('failed')
    expect(JSON.stringify(run)).toContain('privilege capAdd SYS_PTRACE')
    const { client } = job.running
    const other = await job.task()
    const { wants, sha256, runner_id, project_id } = await needed(job.claim(other, agent))
    expect(wants).toEqual([{ kind: 'privilege', text: 'capAdd SYS_PTRACE' }])
    await client.call('runners.trust', { runner_id, project_id, sha256 })
    const { path } = await job.claim(other, agent)
    await passed(job, other)
    // SYS_PTRACE alone.
    expect(await readFile(join(path, 'caps.txt'), 'utf8')).toMatch(/^CapBnd:\s+0000000000080000$/m)
  })

  test('comes from the base, whatever a branch makes of it', async () => {
    await using job = await startDevcontainerJob(
      engine(),
      {
        image: engine().image,
        postCreateCommand: 'mkdir -p data',
        mounts: ['source=${localWorkspaceFolder}/data,target=/opt/data,type=bind'],
      },
      { 'data/kept.txt': 'kept\n' },
    )
    const { client } = job.running
    const proof = join(job.repository.beside, 'escaped.txt')
    const hostile = devcontainerText({
      image: engine().image,
      initializeCommand: `touch ${proof}`,
      mounts: ['source=/,target=/opt/all,type=bind'],
      postStartCommand: 'touch started-by-branch.txt',
      privileged: true,
    })
    const agent = await job.agent(
      `printf '%s' "$HOSTILE" > ${config}; ls /opt/all > all.txt 2>&1; git add -A; git commit -q --allow-empty -m "Reach out"`,
      'Hostile',
    )
    await client.call('agents.update', { agent_id: agent.id, config: { ...agent.config, env: { HOSTILE: hostile } } })
    const task = await job.task({ review_config: { ci_steps: ['ls /opt/data', 'test ! -e /opt/all'] } })
    const { runner_id, project_id, sha256 } = await needed(job.claim(task, agent))
    await client.call('runners.trust', { runner_id, project_id, sha256 })
    const { path } = await job.claim(task, agent)
    const checked = (attempt: number) =>
      job.running.taskWhere(
        task.id,
        ({ review_summary: review, entry_barrier }) =>
          review?.attempt_number === attempt && review.steps.every((step) => step === 'passed') && !entry_barrier,
      )
    await checked(1)
    // Its next run and checks have what the base says too.
    await client.call('tasks.verdict', { task_id: task.id, verdict: 'fail', feedback: 'Again' })
    await checked(2)
    expect(await readFile(join(path, config), 'utf8')).toBe(hostile)
    expect(existsSync(join(path, 'started-by-branch.txt'))).toBe(false)
    expect(existsSync(proof)).toBe(false)
    expect(await devcontainerImages(engine().engine, job.running.dataDir)).toHaveLength(2)

    // A task on its branch starts from what has landed, and not from it.
    const upper = await job.task({ stacked_on: task.id })
    const { path: above } = await job.claim(upper, agent)
    await ended(job, upper)
    expect(await readFile(join(above, config), 'utf8')).toBe(hostile)
    expect(existsSync(proof)).toBe(false)

    // A link in the place of what was trusted leads nowhere.
    const linking = await job.agent('rm -rf data; ln -s /etc data; git add -A; git commit -qm "Link"', 'Linking')
    const linked = await job.task({ review_config: { ci_steps: ['ls /opt/data'] } })
    await job.claim(linked, linking)
    const reviewed = await job.running.taskWhere(
      linked.id,
      ({ review_summary: review }) => review?.steps.some((step) => step !== 'waiting' && step !== 'running') === true,
    )
    expect(JSON.stringify([reviewed, (await client.call('tasks.reviews', { task_id: linked.id })).items])).toContain(
      'leads out of the worktree',
    )
  })

  test('says in words why it can’t be used', async () => {
    await using job = await startDevcontainerJob(engine(), null)
    const agent = await job.agent('true')
    const claim = async () => await refused(job.claim(await job.task(), agent))
    expect(await claim()).toMatchObject({
      code: 'containment_unavailable',
      message: expect.stringMatching(/^This project has no \.devcontainer\/devcontainer\.json in commit [0-9a-f]{12}/),
    })
    const compose = devcontainerText({ dockerComposeFile: 'compose.yaml', service: 'app' })
    await job.repository.commit('Use compose', { [config]: compose })
    expect((await claim()).message).toMatch(/uses Docker Compose.* stay for editors, as \.devcontainer\/compose\//)
    // Beside another one it counts for editors alone.
    await job.repository.commit('Lead out', {
      '.devcontainer/compose/devcontainer.json': compose,
      [config]: devcontainerText({ build: { dockerfile: 'Dockerfile', context: '../..' } }),
    })
    expect((await claim()).message).toContain('outside the repository')
    await job.repository.commit('Break the build', {
      [config]: devcontainerText({ build: { dockerfile: 'Dockerfile' } }),
      '.devcontainer/Dockerfile': `FROM ${engine().image}\nRUN echo "no such tool" && false\n`,
    })
    const task = await job.task()
    await job.claim(task, agent)
    const run = await ended(job, task)
    expect(JSON.stringify(run)).toContain('could not be built')
    expect(JSON.stringify(run)).toContain('no such tool')
    await job.repository.commit('Break its creation', {
      [config]: devcontainerText({ image: engine().image, postCreateCommand: 'echo "nothing to install" && exit 4' }),
    })
    const other = await job.task()
    await job.claim(other, agent)
    const failed = JSON.stringify(await ended(job, other))
    expect(failed).toContain('A command that creates the dev container failed (exit 4)')
    expect(failed).toContain('nothing to install')
    expect(await containersOf(engine(), job.running.dataDir)).toEqual([])
  })

  test('is no longer built once the service ends', async () => {
    const builds = async () => (await promisify(execFile)('ps', ['-eo', 'args'])).stdout.includes('sleep 4716')
    {
      await using job = await startDevcontainerJob(
        engine(),
        { build: { dockerfile: 'Dockerfile' } },
        { '.devcontainer/Dockerfile': `FROM ${engine().image}\nRUN sleep 4716\n` },
      )
      await job.claim(await job.task(), await job.agent('true'))
      await vi.waitUntil(builds, { timeout: 60_000, interval: 50 })
    }
    await vi.waitUntil(async () => !(await builds()), { timeout: 20_000, interval: 50 })
  })

  test('gives its user the ids of the one who runs the service', async () => {
    const name = 'localhost/copse-test/dev-user'
    const { image } = engine()
    await using made = new AsyncDisposableStack()
    const folder = await mkdtemp(join(tmpdir(), 'copse-user-'))
    made.defer(() => rm(folder, { recursive: true }))
    const user = 'dev:x:1000:1000::/home/dev:/bin/sh'
    const steps = `mkdir -p /home/dev && echo ${user} >> /etc/passwd && echo dev:x:1000: >> /etc/group && echo mine > /home/dev/file && chown -R 1000:1000 /home/dev`
    await writeFile(join(folder, 'Dockerfile'), `FROM ${image}\nRUN ${steps}\nUSER dev\n`)
    const client = present(findEngines(engine().engine)[0])
    const signal = AbortSignal.timeout(60_000)
    const ask = async (...args: string[]) => {
      const answer = await askEngine(client, args, { signal })
      expect(answer.exit_code, answer.stderr).toBe(0)
      return answer.stdout
    }
    await ask('build', '--tag', name, folder)
    made.defer(async () => void (await ask('rmi', '--force', `${name}-4321`, name)))
    const ids = { uid: 4321, gid: 8765 }
    const own = await withOwnIds(client, { image: name, user: 'dev', imageUser: 'dev', ids }, { signal })
    const look = 'id -un; id -u; id -g; stat -c %u:%g /home/dev/file; cat ~/file'
    const seen = await ask('run', '--rm', '--user', '4321:8765', '--entrypoint', '/bin/sh', own, '-c', look)
    expect(seen.split('\n')).toEqual(['dev', '4321', '8765', '4321:8765', 'mine', ''])
    expect((await ask('image', 'inspect', '--format', '{{.Config.User}}', own)).trim()).toBe('dev')
  })
})
