import { access, chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { startJob, type Job } from '../../helpers/job.ts'

/** Plants something in a task's repository while its agent works; returns what the review then shows. */
async function planted(
  job: Job,
  plant: (at: { common: string; path: string; trace: string }) => Promise<void>,
  work: Record<string, string>,
) {
  const { client } = job.running
  const task = await job.task()
  const [go, at] = [join(job.repository.beside, 'go'), join(job.repository.beside, 'at')]
  const { path } = await job.claim(
    task,
    await job.agent(`touch ${at}; until [ -e ${go} ]; do sleep 0.02; done; echo done`),
  )
  await vi.waitFor(() => access(at), { timeout: 100_000 })
  await job.repository.write(work, path)
  const trace = join(job.repository.beside, 'trace')
  await plant({ common: join(job.repository.path, '.git'), path, trace })
  await writeFile(go, '')
  await job.running.taskWhere(task.id, (one) => one.status === 'review' && !one.entry_barrier)
  const diff = await client.call('tasks.diff', { task_id: task.id, scope: 'branch' })
  const [review] = (await client.call('tasks.reviews', { task_id: task.id })).items
  return { client, task_id: task.id, path, diff, review, trace }
}

const git = (job: Job, args: string[], cwd?: string) => job.repository.git(args, cwd === undefined ? {} : { cwd })
const evil = { 'a.js': 'evil\n' }

test.concurrent('ignores a replaced object of the base', async () => {
  await using job = await startJob({ files: { 'a.js': 'good\n' } })
  const { diff, review } = await planted(
    job,
    async ({ path }) => {
      const blob = await git(job, ['hash-object', '-w', 'a.js'], path)
      await git(job, ['replace', await git(job, ['rev-parse', 'main:a.js']), blob])
    },
    evil,
  )
  expect(diff.patch).toContain('-good\n+evil')
  expect(review?.notes).toEqual([{ kind: 'repository_changed', paths: [expect.stringMatching(/^refs\/replace\//)] }])
})

test.concurrent('ignores grafts', async () => {
  await using job = await startJob({ files: { 'a.js': 'good\n' } })
  const { diff, review } = await planted(
    job,
    async ({ common, path }) => {
      await git(job, ['commit', '-qam', 'Evil'], path)
      const [head, base] = [await git(job, ['rev-parse', 'HEAD'], path), await git(job, ['rev-parse', 'main'])]
      await writeFile(join(common, 'info/grafts'), `${base} ${head}\n`)
    },
    evil,
  )
  expect(diff.patch).toContain('-good\n+evil')
  expect(review?.notes).toEqual([{ kind: 'repository_changed', paths: ['info/grafts'] }])
})

for (const [where, file] of [
  ['.gitattributes', (at: { path: string }) => join(at.path, '.gitattributes')],
  ['info/attributes', (at: { common: string }) => join(at.common, 'info/attributes')],
  ['core.attributesFile', (at: { trace: string }) => at.trace],
] as const) {
  for (const attribute of ['-diff', 'binary', 'diff=quiet']) {
    test.concurrent(`detects text by its content, whatever ${where} says (${attribute})`, async () => {
      await using job = await startJob({ files: { 'a.js': 'good\n', 'logo.png': 'a\0b' } })
      const { diff } = await planted(
        job,
        async (at) => {
          await mkdir(join(at.common, 'info'), { recursive: true })
          await writeFile(file(at), `*.js ${attribute}\n`)
          if (where === 'core.attributesFile') await git(job, ['config', 'core.attributesFile', at.trace])
          await git(job, ['config', 'diff.quiet.textconv', 'true'])
          await git(job, ['config', 'diff.quiet.command', 'true'])
          await git(job, ['config', 'diff.quiet.binary', 'true'])
        },
        { ...evil, 'logo.png': 'a\0c', 'new.js': 'new\n' },
      )
      const told = new Map(diff.files.map((one) => [one.path, one]))
      expect(diff.patch).toContain('-good\n+evil')
      expect(diff.patch).toContain('+new')
      expect(told.get('a.js')).toMatchObject({ binary: false, additions: 1, deletions: 1 })
      expect(told.get('logo.png')).toMatchObject({ binary: true, reason: 'binary' })
      const single = await job.running.client.call('tasks.diff', {
        task_id: (await onlyTask(job)).id,
        scope: 'branch',
        path: 'a.js',
      })
      expect(single.patch).toContain('-good\n+evil')
      const { diff_stat } = await onlyTask(job)
      expect(diff_stat?.additions).toBe(where === '.gitattributes' ? 3 : 2)
    })
  }
}

const onlyTask = async (job: Job) => {
  const [task] = (await job.running.client.call('tasks.list', { project_id: job.project.id })).items
  if (!task) throw new Error('There is no task.')
  return task
}

test.concurrent('runs nothing that was planted in the configuration, until the merge and after', async () => {
  await using job = await startJob({ files: { 'a.js': 'good\n' } })
  const { client, task_id, path, diff, review, trace } = await planted(
    job,
    async (at) => {
      const script = join(job.repository.beside, 'evil')
      await writeFile(script, `#!/bin/sh\necho "$0 $*" >> '${at.trace}'\necho good\n`)
      await chmod(script, 0o755)
      const hooks = join(job.repository.beside, 'hooks')
      await mkdir(hooks)
      for (const hook of ['reference-transaction', 'post-checkout', 'post-index-change', 'pre-commit', 'post-merge'])
        await writeFile(join(hooks, hook), await readFile(script), { mode: 0o755 })
      for (const [key, value] of [
        ['core.fsmonitor', script],
        ['core.hooksPath', hooks],
        ['filter.a=b.clean', script],
        ['filter.a=b.smudge', script],
        ['filter.evil.process', script],
        ['filter.evil.required', 'true'],
        ['merge.evil.driver', script],
      ])
        await git(job, ['config', key ?? '', value ?? ''])
      await writeFile(join(at.common, 'info/attributes'), '*.js filter=a=b merge=evil\n*.txt filter=evil\n')
    },
    { ...evil, 'b.txt': 'text\n' },
  )
  expect(diff.patch).toContain('-good\n+evil')
  const changed = review?.notes.flatMap((note) => (note.kind === 'repository_changed' ? note.paths : []))
  expect(changed).toEqual(expect.arrayContaining(['config', 'info/attributes', '../../beside/hooks/pre-commit']))
  // The base moves on, so that a real merge is needed.
  const plain = ['-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false']
  await job.repository.write({ 'c.md': 'c\n' })
  await git(job, [...plain, 'add', 'c.md'])
  await git(job, [...plain, 'commit', '-qm', 'Meanwhile'])
  await writeFile(trace, '')
  await client.call('tasks.verdict', { task_id, verdict: 'pass', tree: diff.tree ?? '' })
  const { version } = await client.call('tasks.get', { task_id })
  const merged = await client.call('tasks.transition', { task_id, status: 'merging', version, tree: diff.tree ?? '' })
  expect(merged.task.status).toBe('done')
  const second = await planted(job, () => Promise.resolve(), {}).catch((error: unknown) => error)
  expect(second).not.toBeInstanceOf(Error)
  expect(await readFile(trace, 'utf8')).toBe('')
  expect(path).not.toBe('')
})

test.concurrent('keeps running filters that were configured when the repository was added', async () => {
  await using job = await startJob()
  const { client } = job.running
  await git(job, ['config', 'filter.shout.clean', 'tr a-z A-Z'])
  const other = await job.running.client.call('projects.create', { name: 'Trusted', repo_path: job.repository.path })
  await job.repository.commit('Attributes', { '.gitattributes': '*.txt filter=shout\n' })
  const task = await client.call('tasks.create', { project_id: other.id, title: 'Shout' })
  await job.claim(task, await job.agent('echo quiet > a.txt; echo done'))
  await job.running.taskWhere(task.id, (one) => one.status === 'review' && !one.entry_barrier)
  expect((await client.call('tasks.diff', { task_id: task.id, scope: 'branch' })).patch).toContain('+QUIET')
})
