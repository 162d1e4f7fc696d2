import { expect, test } from 'vitest'
import { startJob } from '../../helpers/job.ts'
import { present } from '../../helpers/present.ts'

const commit = 'git add -A && git commit -qm work'
const ways: Readonly<Record<string, readonly [command: string, kinds: readonly string[]]>> = {
  'on a branch of its own': [`git switch -qc feature && echo w > work.txt && ${commit}`, []],
  'on a branch that it left again': [
    `B=$(git branch --show-current) && git switch -qc feature && echo w > work.txt && ${commit} && git switch -q $B`,
    ['branch'],
  ],
  'on an orphan branch': [`git checkout -q --orphan lone && echo w > work.txt && ${commit}`, ['detached']],
  'on the stash list': ['echo w > work.txt && git stash push -qu', ['stash']],
  'on the base, which it moved in its view': [
    `echo w > work.txt && ${commit} && git update-ref refs/heads/main HEAD`,
    [],
  ],
}

test.concurrent.for(Object.entries(ways))(
  'finds the work that a contained run left %s',
  async ([, [command, kinds]], { skip }) => {
    await using job = await startJob()
    const { client } = job.running
    const { containment } = await client.call('system.get', {})
    if (!containment.available && process.env['CI'] === undefined) skip(containment.reason ?? '')
    const { git } = job.repository
    const base = await git(['rev-parse', 'main'])
    await git(['checkout', '-q', '--detach'])
    const config = { containment: 'worktree', command: `${command}; echo done` } as const
    const agent = await client.call('agents.create', { name: 'Contained', executor: 'command', config })
    const { task } = await job.claim(await job.task(), agent)
    const held = await job.running.taskWhere(
      task.id,
      (one) =>
        one.active_execution_id === null &&
        (one.error_annotation !== null || (one.status === 'review' && !one.entry_barrier)),
    )
    expect(held.error_annotation?.places?.map(({ kind }) => kind) ?? []).toEqual(kinds)
    if (kinds.length > 0) await client.call('tasks.recover', { task_id: task.id, action: 'take_work' })
    await job.running.taskWhere(task.id, (one) => one.error_annotation === null && !one.entry_barrier)
    const { files, tree } = await client.call('tasks.diff', { task_id: task.id, scope: 'branch' })
    expect(files.map(({ path }) => path)).toEqual(['work.txt'])
    expect(await git(['rev-parse', 'main'])).toBe(base)
    await client.call('tasks.verdict', { task_id: task.id, verdict: 'pass', tree: present(tree) })
  },
)
