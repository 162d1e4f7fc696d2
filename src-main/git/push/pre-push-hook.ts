import { constants } from 'node:fs'
import { access, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { mayRunHooks, programOverrides, type ConfigEntry } from '../commands/configured-programs.ts'

/** The `pre-push` hook of a repository; `untrusted`: it has one that must not run. */
export type PrePushHook = { readonly kind: 'trusted'; readonly file: string } | { readonly kind: 'none' | 'untrusted' }

/**
 * Finds the `pre-push` hook that git would run: in the hooks folder of the user's configuration, or of the repository's
 * as it was when it was added. A run may have written what is there since (invariant I10).
 */
export async function findPrePush(repo: string, common: string, entries: readonly ConfigEntry[]): Promise<PrePushHook> {
  const overrides = await programOverrides(repo, [], async () => entries)
  const asSet = entries.findLast(({ key }) => key === 'core.hookspath')?.value
  const trusted = overrides.find(([key]) => key === 'core.hookspath')?.[1] ?? asSet
  const fileIn = async (folder: string | undefined): Promise<string | null> => {
    const file = join(folder ? resolve(repo, withHome(folder)) : join(common, 'hooks'), 'pre-push')
    return (await isExecutable(file)) ? file : null
  }
  const file = await fileIn(trusted)
  if (file !== null) return (await mayRunHooks(repo, [])) ? { kind: 'trusted', file } : { kind: 'untrusted' }
  return { kind: trusted !== asSet && (await fileIn(asSet)) !== null ? 'untrusted' : 'none' }
}

/**
 * Writes the hook that git finds in its private folder: it runs the repository's own, in the repository, as if the user
 * pushed there. `failed` is made if that refuses the push, because git itself doesn't say so.
 * What the hook prints is for people, and must not be taken for git's own lines.
 */
export async function writePrePush(
  hook: string,
  { folder, repo, failed }: { readonly folder: string; readonly repo: string; readonly failed: string },
): Promise<void> {
  const script = `#!/bin/sh
unset GIT_DIR GIT_OBJECT_DIRECTORY GIT_WORK_TREE GIT_PREFIX GIT_CONFIG_PARAMETERS GIT_ALLOW_PROTOCOL
cd ${quoted(repo)} || exit 1
${quoted(hook)} "$@" >&2 && exit 0
: > ${quoted(failed)}
exit 1
`
  await writeFile(join(folder, 'pre-push'), script, { mode: 0o700 })
}

const withHome = (path: string): string => path.replace(/^~(?=\/|$)/, homedir())

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

async function isExecutable(file: string): Promise<boolean> {
  // Windows has no such bit; Git runs every file there.
  return await access(file, process.platform === 'win32' ? constants.F_OK : constants.X_OK).then(
    () => true,
    () => false,
  )
}
