import { existsSync, readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readMachine } from '../../../src-main/containment/machine.ts'
import { startJob } from '../../helpers/job.ts'
import { folderOutside } from './test-containment.ts'

const runnable = readMachine().available || process.env['CI'] !== undefined

/** Places of a repository whose configuration or attributes make git run a program, all made by a run. */
const plants: Readonly<Record<string, (proof: string) => string>> = {
  'a nested repository as a gitlink': (proof) =>
    `git init -q nested; cd nested; git config filter.x.clean 'touch ${proof}; cat'; git config core.fsmonitor 'touch ${proof}'; ` +
    `echo '* filter=x' > .gitattributes; echo a > a.txt; git add -A; git commit -qm nested; cd ..; git add nested; git commit -qm link; echo b > nested/a.txt; touch nested/new.txt`,
  'a nested repository that is not added': (proof) =>
    `git init -q loose; git -C loose config filter.x.clean 'touch ${proof}; cat'; git -C loose config core.fsmonitor 'touch ${proof}'; ` +
    `echo '* filter=x' > loose/.gitattributes; echo a > loose/a.txt; echo work > work.txt`,
  'a submodule with a configuration of its own': (proof) =>
    `git init -q made; git -C made commit -q --allow-empty -m made; printf '[submodule "made"]\\n\\tpath = made\\n\\turl = ./made\\n\\tignore = none\\n' > .gitmodules; ` +
    `git -C made config core.fsmonitor 'touch ${proof}'; git -C made config filter.x.clean 'touch ${proof}; cat'; echo '* filter=x' > made/.gitattributes; git -C made add -A; git -C made commit -qm a; git -C made config core.hooksPath ../hooks; git add -A; git commit -qm sub; echo x > made/x`,
  'a bare repository in a folder': (proof) =>
    `git init -q --bare bare; git -C bare config core.fsmonitor 'touch ${proof}'; git -C bare config core.worktree ..; echo work > work.txt`,
  'filters and drivers in its own configuration': (proof) =>
    `git config filter.x.clean 'touch ${proof}; cat'; git config filter.x.smudge 'touch ${proof}; cat'; git config diff.x.textconv 'touch ${proof}; cat'; ` +
    `git config diff.external 'touch ${proof}'; git config merge.x.driver 'touch ${proof}'; git config core.fsmonitor 'touch ${proof}'; git config core.pager 'touch ${proof}'; ` +
    `git config core.hooksPath hooks; mkdir hooks; for h in post-checkout pre-commit post-commit post-merge reference-transaction post-index-change; do printf '#!/bin/sh\\ntouch ${proof}\\n' > hooks/$h; chmod +x hooks/$h; done; ` +
    `echo '*.txt filter=x diff=x merge=x' > .gitattributes; echo work > work.txt; git add -A; git commit -qm work; echo more >> work.txt`,
  'a link in place of a reference': () =>
    `echo work > work.txt; git add -A; git commit -qm work; d=$(git rev-parse --git-common-dir); rm -f "$d/logs/HEAD"; ln -s /etc/passwd "$d/logs/HEAD"; ln -s /var/tmp "$d/objects/zz"`,
  'a link in place of its log': (proof) =>
    `git checkout -q --detach; echo work > work.txt; cd "$(git rev-parse --git-dir)"; rm -rf logs/HEAD; ln -s ${proof}-log logs/HEAD`,
  'a link in place of its logs': (proof) =>
    `echo work > work.txt; cd "$(git rev-parse --git-dir)"; rm -rf logs; ln -s ${dirname(proof)} logs`,
  'a link in place of its index': (proof) =>
    `echo work > work.txt; cd "$(git rev-parse --git-dir)"; rm index; ln -s ${proof}-index index`,
  'links in place of files that git writes': (proof) =>
    `echo work > work.txt; git add -A; git commit -qm work; echo more > more.txt; cd "$(git rev-parse --git-dir)"; ` +
    `for f in ORIG_HEAD COMMIT_EDITMSG MERGE_HEAD MERGE_MSG AUTO_MERGE FETCH_HEAD locked svc-copied.json svc-setup-done HEAD.copse HEAD.lock index.lock; do rm -rf $f; ln -s ${proof}-$f $f; done`,
  'a link in place of its own refs': (proof) =>
    `echo work > work.txt; git add -A; git commit -qm work; cd "$(git rev-parse --git-dir)"; rm -rf refs; mkdir refs; ln -s ${dirname(proof)} refs/worktree; ln -s ${dirname(proof)} refs/bisect`,
  'a link where its HEAD is put right': (proof) =>
    `git checkout -q --orphan bare; echo work > work.txt; ln -s ${proof}-head "$(git rev-parse --git-dir)/HEAD.copse"`,
  'a pipe in place of its HEAD': () => `echo work > work.txt; cd "$(git rev-parse --git-dir)"; rm HEAD; mkfifo HEAD`,
  'pipes in place of files that git reads': () =>
    `echo work > work.txt; git add -A; git commit -qm work; cd "$(git rev-parse --git-dir)"; for f in logs/HEAD ORIG_HEAD MERGE_HEAD MERGE_MSG FETCH_HEAD locked svc-copied.json; do rm -rf $f; mkfifo $f; done`,
  'a pipe in place of its index': () => `echo work > work.txt; cd "$(git rev-parse --git-dir)"; rm index; mkfifo index`,
  'pipes among its files': () =>
    `echo work > work.txt; mkfifo .gitmodules .svc.lock pipe.txt package.json .mailmap .lfsconfig`,
}

describe.runIf(runnable)('git of Copse, after a contained run has made', () => {
  it.each(Object.entries(plants))('%s', async (_name, plant) => {
    const outside = folderOutside('planted')
    const proof = join(outside, 'ran')
    try {
      await using job = await startJob()
      const { client } = job.running
      const command = plant(proof)
      const config = { command, containment: 'worktree' as const }
      const agent = await client.call('agents.create', { name: 'Planter', executor: 'command', config })
      const { task } = await job.claim(await job.task(), agent)
      const ended = await job.running.taskWhere(
        task.id,
        ({ status, error_annotation, entry_barrier }) =>
          error_annotation !== null || (status === 'review' && !entry_barrier),
      )
      await client.call('tasks.diff', { task_id: task.id, scope: 'branch' })
      await client.call('tasks.diff', { task_id: task.id, scope: 'uncommitted' }).catch(() => undefined)
      await client.call('tasks.workspace', { task_id: task.id })
      await client.call('tasks.commits', { task_id: task.id })
      if (ended.error_annotation?.recovery_actions.includes('absorb_nested') === true) {
        await client.call('tasks.recover', { task_id: task.id, action: 'absorb_nested' })
        await job.running.taskWhere(task.id, ({ status, entry_barrier }) => status === 'review' && !entry_barrier)
      }
      const { version } = await client.call('tasks.get', { task_id: task.id })
      const { tree } = await client.call('tasks.diff', { task_id: task.id, scope: 'branch' })
      const move = { task_id: task.id, status: 'merging', version, ...(tree !== null && { tree }) }
      await client.call('tasks.transition', move).catch(() => undefined)
      await job.running.taskWhere(
        task.id,
        ({ entry_barrier, error_annotation }) => !entry_barrier || error_annotation !== null,
      )
      expect([existsSync(proof), readdirSync(outside)]).toEqual([false, []])
    } finally {
      await rm(outside, { recursive: true, force: true })
    }
  })
})
