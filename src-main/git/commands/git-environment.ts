import { childEnvironment } from '../../platform/process/process-environment.ts'

/** A setting of git that overrides its configuration. */
export type Setting = readonly [key: string, value: string]

/**
 * Variables set by this file or by callers of `runGit`; other `GIT_` variables of the service's environment could misdirect git.
 */
const ownVariables = [
  'GIT_TERMINAL_PROMPT',
  'GIT_OPTIONAL_LOCKS',
  'GIT_EDITOR',
  'GIT_INDEX_FILE',
  'GIT_OBJECT_DIRECTORY',
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_AUTHOR_DATE',
  'GIT_NO_REPLACE_OBJECTS',
  'GIT_GRAFT_FILE',
  'GIT_DIR',
  'GIT_ASKPASS',
  'GIT_SSH_COMMAND',
  'GIT_ALLOW_PROTOCOL',
  'GIT_LFS_FORCE_PROGRESS',
  'GIT_ALLOC_LIMIT',
]
const inheritedVariables = [
  'GIT_CONFIG_GLOBAL',
  'GIT_CONFIG_SYSTEM',
  'GIT_CONFIG_NOSYSTEM',
  'GIT_AUTHOR_NAME',
  'GIT_AUTHOR_EMAIL',
  'GIT_COMMITTER_NAME',
  'GIT_COMMITTER_EMAIL',
  // Users set this to leave large files on their server, so it applies to the service's checkouts too.
  'GIT_LFS_SKIP_SMUDGE',
]
const guardedVariable = /^(?:GIT_.*|EDITOR|PAGER|PREFIX|SSH_ASKPASS|VISUAL)$/i

/** Passes settings in git's environment, where a key may contain any character. */
function asVariables(settings: readonly Setting[]): Record<string, string> {
  const pairs = settings.flatMap(([key, value], number) => [
    [`GIT_CONFIG_KEY_${number}`, key],
    [`GIT_CONFIG_VALUE_${number}`, value],
  ])
  return { GIT_CONFIG_COUNT: String(settings.length), ...Object.fromEntries(pairs) }
}

/** Returns git's environment: the user's own without what could misdirect git, the settings, and `given`. */
export function gitEnvironment(
  settings: readonly Setting[],
  { access, given }: { readonly access: 'read' | 'write'; readonly given: Readonly<Record<string, string>> },
): Record<string, string> {
  const inherited = Object.entries(childEnvironment({})).filter(
    ([name]) => !guardedVariable.test(name) || inheritedVariables.includes(name),
  )
  return {
    ...Object.fromEntries(inherited),
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_EDITOR: 'true',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_GRAFT_FILE: '/dev/null',
    ...asVariables(settings),
    ...(access === 'write' ? {} : { GIT_OPTIONAL_LOCKS: '0' }),
    ...given,
  }
}

/** Names the variables that git may be given. */
export const allowedVariables = (settings: readonly Setting[]): string[] => [
  ...ownVariables,
  ...inheritedVariables,
  ...Object.keys(asVariables(settings)),
]
