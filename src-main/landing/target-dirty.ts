import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { LandingGround } from './landing-ground.ts'
import type { WorkspaceRecord } from '../ports/workspace-queries.ts'
import type { HiddenChange } from '../ports/target-mover.ts'

/** Refuses with the files that are in the way; where git hides a change, with how to see it. */
export async function targetDirty(
  { target }: LandingGround,
  { repo_path, base_branch }: WorkspaceRecord,
  files: readonly string[],
  next = 'merge again',
): Promise<Refusal> {
  const { signal } = new AbortController()
  const hidden = await target.hiddenChanges({ repo_path, base_branch }, files, { signal })
  const advice = hidden.length === 0 ? 'Commit or stash them' : `${liftFlags(hidden)}, commit or stash them`
  return {
    code: 'merge_target_dirty',
    message: `Your checkout of ${base_branch} has uncommitted changes in files this merge touches. ${advice}, then ${next}.`,
    details: {
      files: [...files],
      ...(hidden.length > 0 && { flags: hidden.map(({ path, flag }) => ({ path, flag })) }),
    },
  }
}

/** Most flagged files are one; of many, the command names the first. */
const maxNamed = 5

function liftFlags(hidden: readonly HiddenChange[]): string {
  const commands = (['skip-worktree', 'assume-unchanged'] as const).flatMap((flag) => {
    const paths = hidden.filter((one) => one.flag === flag).map(({ path }) => shellQuote(path))
    if (paths.length === 0) return []
    const more = paths.length > maxNamed ? ' …' : ''
    return [`"git update-index --no-${flag} -- ${paths.slice(0, maxNamed).join(' ')}${more}"`]
  })
  return `Git hides some of them: run ${commands.join(' and ')} there`
}

const shellQuote = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
