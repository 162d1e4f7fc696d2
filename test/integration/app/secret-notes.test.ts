import { expect, test } from 'vitest'
import { startJob, type Job } from '../../helpers/job.ts'
import { present } from '../../helpers/present.ts'

const key = `ghp_${'a1B2c3D4e5F6g7H8'.repeat(2)}Xyz9`

async function reviewed(job: Job, command: string) {
  const task = await job.task({ title: 'Add' })
  await job.claim(task, await job.agent(`${command}; echo done`))
  const { id } = await job.running.taskWhere(task.id, (one) => one.review_summary !== null && !one.entry_barrier)
  return present((await job.running.client.call('tasks.reviews', { task_id: id })).items[0])
}

test.concurrent('waits for a person where the work seems to add a secret, and never shows it', async () => {
  await using job = await startJob({ files: { 'a.ts': 'one\ntwo\nthree\n', 'README.md': 'r\n' } })
  const review = await reviewed(
    job,
    `printf 'one\ntwo\nconst key = "${key}"\nthree\n' > a.ts; echo A=1 > .env; echo A= > .env.example; ` +
      `printf -- '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaA\n-----END OPENSSH PRIVATE KEY-----\n' > deploy; ` +
      `git add -A; git commit -qm 'Add' -m 'with ${key}'`,
  )
  expect(review).toMatchObject({
    status: 'running',
    notes: [
      {
        kind: 'secret',
        files: [
          { path: 'a.ts', lines: [3] },
          { path: 'deploy', lines: [1] },
          { path: '.env', lines: [] },
        ],
        commits: [expect.stringMatching(/^[0-9a-f]{40}$/)],
      },
    ],
  })
  expect(JSON.stringify(review)).not.toContain(key)
})

test.concurrent('waits for a person where new names are the same to some file systems', async () => {
  await using job = await startJob({ files: { 'README.md': 'r\n', 'Docs/a.md': 'a\n', 'OLD.md': 'o\n' } })
  const review = await reviewed(
    job,
    `echo s > readme.md; mkdir docs; echo b > docs/b.md; printf n > "$(printf 'caf\\303\\251')"; printf n > "$(printf 'cafe\\314\\201')"; git mv OLD.md old.md`,
  )
  expect(review).toMatchObject({
    status: 'running',
    notes: [
      { kind: 'same_names', paths: ['Docs', 'README.md', 'cafe\u0301', 'caf\u00e9', 'docs', 'readme.md'].sort() },
    ],
  })
})

test.concurrent('notes nothing of work without either', async () => {
  await using job = await startJob({ files: { 'README.md': 'r\n', 'a.ts': `${key}\n` } })
  const review = await reviewed(job, `rm a.ts; echo 'const password = readPassword()' > b.ts`)
  expect(review).toMatchObject({ status: 'passed', notes: [] })
})
