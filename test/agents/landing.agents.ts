import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import type { Task } from '../../src-shared/contract/tasks.ts'
import { scripted } from '../fakes/model-server.ts'
import { runApp } from '../helpers/running-app.ts'
import { createAgentBench } from './agent-bench.ts'
import { agentBinary } from './agent-binaries.ts'

const execute = promisify(execFile)
/** A script that fails when it calls a name that is no longer there: two changes that are right alone break it together. */
const files = { 'lib.sh': 'greet() { echo hello; }\n', 'main.sh': '. ./lib.sh\ngreet\n' }
const check = 'for f in main*.sh; do sh -e $f >/dev/null || { echo "$f is broken"; exit 3; }; done'

test('Claude Code mends in its session what breaks the base together with another task, and the base is never red', async () => {
  await using bench = await createAgentBench()
  await using running = await runApp()
  const { client } = running
  const { repository, model } = bench
  const greet = await repository.commit('Greet', files)
  const project = await client.call('projects.create', { name: 'Landing', repo_path: repository.path })
  await client.call('projects.update_settings', {
    project_id: project.id,
    default_review_config: { ci_steps: [check], review_prompt: null },
  })
  const agent = await client.call('agents.create', {
    name: 'Claude Code',
    executor: 'claude-code',
    config: { command: await agentBinary('claude-code'), model: 'fake-1', env: { ...bench.env } },
  })
  const worked = async (title: string, description: string): Promise<Task> => {
    const task = await client.call('tasks.create', { project_id: project.id, title, description })
    await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
    return await running.taskWhere(task.id, hasPassed)
  }
  const [first, second] = await Promise.all([
    worked(
      'Rename greet',
      scripted('Call greet welcome.', [
        { shell: 'sed -i s/greet/welcome/ lib.sh main.sh && git commit -qam "Rename greet"' },
        { say: 'greet is welcome now.' },
      ]),
    ),
    worked(
      'Add a caller',
      scripted(
        'Greet in main2.sh too.',
        [{ write: { path: 'main2.sh', content: '. ./lib.sh\ngreet\n' } }, { say: 'main2.sh greets.' }],
        {
          on: 'It fails together with',
          steps: [
            { shell: 'git merge --no-edit main && sed -i s/greet/welcome/ main2.sh' },
            { say: 'main2.sh calls welcome.' },
          ],
        },
      ),
    ),
  ])
  const [landed, red] = [
    await client.call('tasks.transition', { task_id: first.id, status: 'merging', version: first.version }),
    await client.call('tasks.transition', { task_id: second.id, status: 'merging', version: second.version }),
  ]
  expect(landed.task.status).toBe('done')
  expect(red.landing).toMatchObject({ result: 'red', step: check, exit_code: 3, with: [first.id] })

  // Why it came back is what the model is asked, after all that was said before in the same session.
  const { prompt, said } = await model.waitForCall((call) => call.prompt.includes('It fails together with'))
  expect(prompt).toContain('It passes alone. It fails together with what has landed on main')
  for (const reason of ['“Rename greet”', 'main2.sh is broken', '+welcome']) expect(prompt).toContain(reason)
  expect(said).toContain('main2.sh greets.')
  const mended = await running.taskWhere(second.id, hasPassed)
  const { items: runs } = await client.call('tasks.executions', { task_id: second.id })
  expect(new Set(runs.map((run) => run.session_id)).size).toBe(1)
  expect(runs).toHaveLength(2)
  const again = await client.call('tasks.transition', {
    task_id: second.id,
    status: 'merging',
    version: mended.version,
  })
  expect(again).toMatchObject({ task: { status: 'done' }, landing: { result: 'landed' } })

  expect(await repository.git(['show', 'main:main2.sh'])).toContain('welcome')
  const commits = (await repository.git(['rev-list', '--first-parent', `${greet}^..main`])).split('\n')
  expect(commits).toHaveLength(3)
  for (const commit of commits) {
    await repository.git(['checkout', '--quiet', '--detach', commit])
    await execute('sh', ['-c', check], { cwd: repository.path })
  }
})

const hasPassed = (task: Task): boolean => task.review_passed_at !== null && !task.entry_barrier
