import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { startJob, type Job } from '../../helpers/job.ts'
import type { OperationInput } from '../../../src-shared/contract/operations.ts'

/** Returns the reviewer's prompt from its standard input, once `work` and the CI steps are done. */
async function readByReviewer(job: Job, work: string, more: Partial<OperationInput<'tasks.create'>>): Promise<string> {
  const task = await job.task(more)
  const kept = '"$SVC_REPO_PATH/.git/prompt.txt"'
  const reviewer = await job.agent(`cat > ${kept}; echo read`, 'Reviewer')
  await job.running.client.call('tasks.assign_role', { task_id: task.id, role: 'reviewer', agent_id: reviewer.id })
  await job.claim(task, await job.agent(`${work}; echo worked`))
  // The reviewer gives no verdict.
  await job.running.taskWhere(task.id, (one) => one.error_annotation?.type === 'execution_incomplete')
  return readFile(`${job.repository.path}/.git/prompt.txt`, 'utf8')
}

const works = 'echo committed > one.txt; git add -A; git commit -qm Work; echo loose > two.txt'

test.concurrent('contains the task, the whole change and the check results', async () => {
  await using job = await startJob()
  const prompt = await readByReviewer(job, works, {
    title: 'Say two things',
    description: 'One committed, one not.',
    review_config: { ci_steps: ['test -f one.txt', 'test -f two.txt'] },
  })
  const parts = [
    '# Say two things\n\nOne committed, one not.',
    '## Your part: reviewer',
    'POST /api/v1/tasks/$SVC_TASK_ID/verdict',
    '## The checks\n\n- `test -f one.txt`: passed\n- `test -f two.txt`: passed',
    '## The change\n\n```diff\n',
    '+committed',
    '+loose',
  ]
  expect(parts.filter((part) => !prompt.includes(part))).toEqual([])
  expect(parts.map((part) => prompt.indexOf(part))).toEqual(
    parts.map((part) => prompt.indexOf(part)).sort((a, b) => a - b),
  )
})

test.concurrent('places task, change and checks where a review prompt names them', async () => {
  await using job = await startJob()
  const review_prompt = 'Of {{title}} from {{base_branch}}:\n{{diff}}\nChecked:\n{{ci}}\nBe strict.'
  const prompt = await readByReviewer(job, works, {
    title: 'Say $& two things',
    review_config: { ci_steps: ['true'], review_prompt },
  })
  expect(prompt).toMatch(
    /Of Say \$& two things from main:\n```diff\n[^]*\+loose\n```\nChecked:\n- `true`: passed\nBe strict\./,
  )
  expect(prompt).not.toContain('## The change')
})

test.concurrent('cuts a big change, says so, and contains no secret', async () => {
  await using job = await startJob()
  await job.settings({ redaction_patterns: ['key-[a-z]+'] })
  const big = 'echo key-secret > a.txt; seq -f "line %06g of a very long file" 10000 > b.txt'
  const prompt = await readByReviewer(job, big, { review_config: { ci_steps: [], review_prompt: null } })
  expect(prompt.length).toBeLessThan(62_000)
  expect(prompt).toMatch(
    /\n\+line \d{6} of a very long file\n```\n\nThat is the first part of \d{6} characters; read the rest with git diff\.$/,
  )
  expect(prompt).toContain('+[redacted]')
  expect(prompt).not.toContain('key-secret')
  expect(prompt).toContain('## The checks\n\nNo checks are configured.')
})
