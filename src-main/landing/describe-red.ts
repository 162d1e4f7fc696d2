import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { LandingGround } from './landing-ground.ts'
import { toSettings } from '../core/views.ts'
import type { LandedCommit } from '../ports/target-mover.ts'
import type { LandRequest } from './landing.ts'
import type { LaneEnd } from './lane.ts'

type Red = Extract<LaneEnd, { kind: 'failed' }>

/** How many of the others' changes are shown, and how much of each. */
const shownPatches = 3
const patchBytes = 4_000

export interface RedFeedback {
  readonly feedback: string
  /** The tasks that landed since the branch began, newest first. */
  readonly with: readonly TaskId[]
}

/** Says to the coder why the merge of its work fails although the work passes by itself, and what it met. */
export async function describeRed(
  context: LandingGround,
  { project, merge, judged_tree }: LandRequest,
  { step, exit_code, output_tail, base }: Red,
  signal: AbortSignal,
): Promise<RedFeedback> {
  const { target, store } = context
  const { repo_path, base_branch, head } = merge
  const redact = context.redactor(toSettings(project).redaction_patterns)
  const landed = head === undefined ? [] : await target.landedSince({ repo_path, head, tip: base }, { signal })
  const patches = await Promise.all(
    landed.slice(0, shownPatches).map(({ commit }) => target.patchOf(repo_path, commit, patchBytes, { signal })),
  )
  const landedName = ({ commit, subject, task_id }: LandedCommit): string => {
    const task = task_id === null ? null : store.read.tasks.get(task_id as TaskId)
    return task ? `“${task.title}”` : `${commit.slice(0, 12)} “${subject}”`
  }
  const names = landed.slice(0, 10).map(landedName)
  const alone = judged_tree === null ? '' : 'It passes alone. '
  const others =
    names.length === 0
      ? ''
      : `${alone}It fails together with what has landed on ${base_branch} since this branch began: ${names.join(', ')}${landed.length > 10 ? ' and more' : ''}. `
  const changes = landed
    .slice(0, shownPatches)
    .map(
      (one, index) =>
        `\n\n${landedName(one)} changed:\n\n\`\`\`diff\n${redact(patches[index] ?? '').trimEnd()}\n\`\`\``,
    )
  return {
    feedback:
      `Merged into ${base_branch}, this work fails \`${step}\` (exit code ${exit_code}), so nothing was merged. ${others}` +
      `Merge ${base_branch} into this branch, fix it there, and submit it again. The end of the output:\n\n` +
      `${output_tail}${changes.join('')}`,
    with: [...new Set(landed.flatMap(({ task_id }) => (task_id === null ? [] : [task_id as TaskId])))].filter(
      (id) => store.read.tasks.get(id) !== null,
    ),
  }
}
