import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { startJob, type Job } from '../../helpers/job.ts'
import { present } from '../../helpers/present.ts'
import { containmentIn, folderOutside, isContainable } from './test-containment.ts'

const outside = folderOutside('landing')
beforeEach(() => {
  for (const name of readdirSync(outside)) rmSync(join(outside, name), { recursive: true })
  writeFileSync(join(outside, 'file'), 'mine')
})
afterAll(() => {
  rmSync(outside, { recursive: true, force: true })
})

/** Lands a task whose landing must run this step, because the base has moved; returns what its step printed. */
async function land(job: Job, step: string) {
  const landing = { mode: 'serial' as const, steps: [step], max_parallel: 2, retry_failed: false }
  await job.settings({ landing, ci_containment: 'worktree' })
  const task = await job.task({ review_config: { ci_steps: ['true'], review_prompt: null } })
  await job.claim(task, await job.agent('echo work > work.txt'))
  const { version } = await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  await job.repository.commit('Other', { 'other.txt': 'other\n' })
  return await job.running.client.call('tasks.transition', { task_id: task.id, status: 'merging', version })
}

const attempts = {
  'the database': (job: Job) => `cat ${job.running.dataDir}/copse.db`,
  'the signing key': (job: Job) => `cat ${job.running.dataDir}/secrets/jwt.key`,
  'another worktree': (job: Job) => `ls ${job.running.dataDir}/workspaces | grep -v scratch | grep -q .`,
  'a file outside': () => `echo escaped > ${outside}/new`,
  'Copse, with no token': (job: Job) => `curl -fsS -m 5 ${job.running.url}/api/v1/projects`,
  'a sign-in of the CLI': (job: Job) => `cat ${job.running.dataDir}/cli.json || cat ~/.local/share/copse/cli.json`,
}

describe.runIf(isContainable(containmentIn(outside)))('a landing step with ci_containment', () => {
  it('reads and writes nothing but its scratch worktree', async () => {
    await using job = await startJob()
    const lines = Object.entries(attempts).map(
      ([name, line]) => `if { ${line(job)}; } >/dev/null 2>&1; then echo "reached ${name}"; fi`,
    )
    const { landing } = await land(
      job,
      [
        ...lines,
        `echo escaped > ${job.repository.path}/README.md; echo made > made.txt && cat made.txt work.txt && exit 1`,
        'exit 0',
      ].join('\n'),
    )
    expect(landing).toMatchObject({ result: 'red', exit_code: 1 })
    expect(present(landing).output_tail).toContain('made\nwork')
    expect(present(landing).output_tail).not.toContain('reached')
    expect(existsSync(join(outside, 'new'))).toBe(false)
    expect(await job.repository.git(['status', '--porcelain'])).toBe('')
  })

  it('leaves nothing of it in the repository', async () => {
    await using job = await startJob()
    const refs = async () => (await job.repository.git(['for-each-ref', '--format=%(refname)'])).split('\n')
    const { landing } = await land(
      job,
      [
        'echo escaped > README.md; git add -A; git -c user.name=a -c user.email=a@b.test commit -qm escaped',
        'git update-ref refs/heads/main HEAD; git tag escaped; git branch -f other HEAD',
        "git config core.hooksPath hooks; git config filter.x.clean 'touch /var/tmp/x'; git config core.fsmonitor x",
        "c=$(git rev-parse --git-common-dir); mkdir -p $c/hooks; printf '#!/bin/sh\\ntouch ran\\n' > $c/hooks/post-merge",
        `cd "$(git rev-parse --git-dir)"; rm -rf logs; ln -s ${outside} logs; ln -s ${outside}/file HEAD.copse`,
      ].join('\n'),
    )
    expect(landing).toMatchObject({ result: 'landed' })
    expect(await job.repository.git(['log', '--format=%s', '-1', 'main'])).not.toBe('escaped')
    expect(await job.repository.git(['show', 'main:README.md'])).not.toBe('escaped')
    expect((await refs()).filter((ref) => /escaped|other|left/.test(ref))).toEqual([])
    for (const key of ['core.hooksPath', 'filter.x.clean', 'core.fsmonitor'])
      await expect(job.repository.git(['config', key])).rejects.toThrow()
    expect(existsSync(join(job.repository.path, '.git', 'hooks', 'post-merge'))).toBe(false)
    expect([readdirSync(outside), readFileSync(join(outside, 'file'), 'utf8')]).toEqual([['file'], 'mine'])
  })
})
