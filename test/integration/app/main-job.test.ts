import { access } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { runApp } from '../../helpers/running-app.ts'

test('takes a task from a claim to a commit on the base branch and removes its worktree', async () => {
  await using repository = await createTestRepository()
  await using running = await runApp()
  const { client } = running
  const project = await client.call('projects.create', { name: 'Job', repo_path: repository.path })
  const agent = await client.call('agents.create', {
    name: 'Scripted',
    executor: 'command',
    config: {
      command:
        'cat > prompt.txt; echo working; echo hello > hello.txt; git add -A; git commit -qm "Say hello"; echo more > left.txt',
    },
  })
  const task = await client.call('tasks.create', {
    project_id: project.id,
    title: 'Say hello',
    description: 'Write **hello.txt**.',
    review_config: { ci_steps: ['test -f hello.txt', 'grep -q hello hello.txt && echo fine'] },
  })
  expect(task.status).toBe('backlog')

  const claimed = await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  expect(claimed.task).toMatchObject({ status: 'in_progress', roles: { coder: { type: 'agent', id: agent.id } } })
  expect(claimed.workspace).toMatchObject({ status: 'ready', base_branch: 'main' })

  const reviewed = await running.taskWhere(
    task.id,
    (one) => one.status === 'review' && one.review_passed_at !== null && !one.entry_barrier,
  )
  expect(reviewed).toMatchObject({
    entry_barrier: false,
    error_annotation: null,
    active_execution_id: null,
    review_summary: { attempt_number: 1, status: 'passed', steps: ['passed', 'passed'] },
    diff_stat: { files: 3 },
  })
  const { items: reviews } = await client.call('tasks.reviews', { task_id: task.id })
  expect(reviews[0]?.step_results.map((step) => [step.exit_code, step.output_tail.trim()])).toEqual([
    [0, ''],
    [0, 'fine'],
  ])
  const diff = await client.call('tasks.diff', { task_id: task.id, scope: 'branch' })
  expect(diff.files.map((file) => file.path).sort()).toEqual(['hello.txt', 'left.txt', 'prompt.txt'])

  const merged = await client.call('tasks.transition', {
    task_id: task.id,
    status: 'merging',
    version: reviewed.version,
  })
  expect(merged.task.status).toBe('done')
  expect(await repository.git(['show', 'main:hello.txt'])).toBe('hello')
  expect(await repository.git(['show', 'main:left.txt'])).toBe('more')
  expect(await repository.git(['show', 'main:prompt.txt'])).toContain('Write **hello.txt**.')
  // Uncommitted work was committed first; that commit and the merge both name the task.
  const bodies = await repository.git(['log', '--format=%B', 'main'])
  expect(bodies.split(`Copse-Task: ${task.id}`)).toHaveLength(3)
  expect(await repository.git(['status', '--porcelain'])).toBe('')
  const workspace = await client.call('tasks.workspace', { task_id: task.id })
  expect(workspace.status).toBe('cleaned')
  await expect(access(workspace.path)).rejects.toThrow('ENOENT')

  const { items: audit } = await client.call('tasks.transitions', { task_id: task.id })
  expect(audit.map((entry) => [entry.from_state, entry.to_state, entry.triggered_by.split(':')[0]])).toEqual([
    ['backlog', 'in_progress', 'agent'],
    ['in_progress', 'review', 'system'],
    ['review', 'merging', 'user'],
    ['merging', 'done', 'user'],
  ])
})
