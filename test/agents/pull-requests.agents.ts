import { expect, test } from 'vitest'
import type { ModelScript } from '../fakes/model-server.ts'
import { forgeKinds } from '../helpers/any-forge.ts'
import { repository, startAnyForgeJob } from '../helpers/pull-request-job.ts'
import { agentBinary } from './agent-binaries.ts'
import { createAgentBench } from './agent-bench.ts'

const auto_fix = { enabled: true, max_rounds: 10, from: 'members' as const, also: ['rita'], resolve: true }

/** What the model does: at first, when the check failed, and when the thread is there. */
const script = (thread_id: string): ModelScript => ({
  steps: [{ write: { path: 'greeting.txt', content: 'bonjor\n' } }, { say: 'It greets.' }],
  next: {
    on: 'ci/build',
    steps: [{ shell: 'echo bonjour > greeting.txt && git commit -qam "Spell it"' }, { say: 'It is spelt now.' }],
    next: {
      on: 'Say it twice.',
      steps: [
        { tool: { name: 'svc_get_pull_request', args: {} } },
        { shell: 'echo bonjour >> greeting.txt' },
        { tool: { name: 'svc_reply_to_thread', args: { thread_id, body: 'Said twice now.' } } },
        { say: 'It greets twice.' },
      ],
    },
  },
})

test.each(forgeKinds)(
  'takes a task from claim to its merge with Claude Code, past a red check and a thread, unattended: %s',
  async (kind) => {
    await using bench = await createAgentBench()
    await using at = await startAnyForgeJob(kind, { auto_fix, auto_merge: true })
    const { job, forge, git } = at
    const { running } = job
    const { client } = running
    bench.model.setScript(script(''))
    await at.configure({ enabled: true, auto_fix, auto_merge: true }, { poll_interval_secs: 1 })
    const config = { command: await agentBinary('claude-code'), model: 'fake-1', env: { ...bench.env } }
    const agent = await client.call('agents.create', { name: 'Claude Code', executor: 'claude-code', config })
    const task = await job.task({ title: 'Greet in French', description: 'Write greeting.txt.' })
    await job.claim(task, agent)
    const gate = () =>
      running.taskWhere(task.id, ({ status, entry_barrier }) => status === 'pull_request' && !entry_barrier)
    const pushedAfter = async (head: string) => {
      const pull = await running.eventually(
        () => at.get(task),
        (one) => one.head !== head,
      )
      await gate()
      return pull
    }

    await running.taskWhere(task.id, ({ pull_request }) => pull_request !== null)
    const first = await at.get(task)
    await forge.report(first.head, 'ci/build', false)
    const second = await pushedAfter(first.head)
    // Before the check passes: it would be merged.
    const thread = await forge.comment(second.number, { path: 'greeting.txt', line: 1 }, 'Say it twice.')
    bench.model.setScript(script(thread))
    await forge.report(second.head, 'ci/build', true)
    const third = await pushedAfter(second.head)
    await forge.report(third.head, 'ci/build', true)
    await running.taskWhere(task.id, ({ status }) => status === 'done')

    const [pull, ...more] = forge.pulls()
    expect(more).toEqual([])
    expect(pull?.state).toBe('merged')
    expect(pull?.words.map((words) => words.split('\n')[0])).toEqual(['Say it twice.', 'Said twice now.'])
    const main = (await git.refs(repository))['refs/heads/main']
    expect(await git.git(repository, ['show', `${main}:greeting.txt`])).toBe('bonjour\nbonjour')
    expect((await job.repository.git(['rev-parse', 'main'])).trim()).toBe(main)
    // All in one session, and no person was asked.
    const runs = await job.executions(task.id)
    expect(runs.map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'succeeded'])
    expect(new Set(runs.map(({ session_id }) => session_id)).size).toBe(1)
    expect((await job.history(task.id)).filter((step) => / by (?:user|operator)/.test(step))).toEqual([])
    const { prompt } = await bench.model.waitForCall((call) => call.prompt.includes('Say it twice.'))
    expect(prompt).toContain('> Say it twice.')
    expect(forge.server.failures).toEqual([])
  },
)
