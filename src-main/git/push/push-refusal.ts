import type { PushFailure, PushRejection } from '../../ports/branch-pusher.ts'

/** What became of a push that failed. */
export interface PushRefusal {
  readonly code: PushFailure
  readonly reason: PushRejection | null
}

/** Git's own words for a branch that is not where the push needs it: of its own check, and of the server's lock. */
const movedWords =
  /\[rejected\][^\n]*\((?:fetch first|non-fast-forward|stale info|needs force|remote ref updated since checkout)\)|\[remote rejected\][^\n]*\((?:reference already exists|incorrect old value|fetch first)|cannot lock ref 'refs\/heads\/[^\n]*(?:but expected|reference already exists)/

/**
 * What servers say when they refuse a push, the most telling first: GitLab and Gitea decline everything by a hook, and
 * a secret is a violation of GitHub's rules like any other.
 */
const rejections: readonly (readonly [reason: PushRejection, words: RegExp])[] = [
  [
    'workflow_scope',
    /refusing to allow .* to (?:create or )?update workflow|without `?workflows?`? (?:scope|permission)/i,
  ],
  [
    'secret',
    /GITHUB PUSH PROTECTION[\s\S]*secret|GH009|cannot contain secrets|secrets? (?:was |were )?(?:detected|found)/i,
  ],
  [
    'too_large',
    /error: GH001|exceeds GitHub's file size limit|larger than the allowed size|exceed(?:s|ed)? (?:the |its |your |their )?(?:[\d.]+ ?\w+ )?(?:maximum |repository |file |blob |storage )?(?:allowed )?(?:size|limit|quota)|exceeds maximum allowed size|size is over limitation|quota exceeded|above its size limit|(?:HTTP|error:) 413\b/i,
  ],
  [
    'protected',
    /GH006|GH003|GH013|protected branch|repository rule violations|is protected from|force-push(?:ing)? to .* not allowed|denying (?:non-fast-forward|creation|deletion)|deletion (?:of the current branch )?prohibited|deny updating|branch is currently checked out/i,
  ],
  ['moved', movedWords],
  ['hook', /hook declined|declined by .*hook|hook refuse[sd]|LFS objects are missing|GH008/i],
]

const unauthorized =
  /Authentication failed|could not read (?:Username|Password)|HTTP Basic: Access denied|Invalid username or|returned error: 401|Permission denied \(|Permission denied, please try again|Too many authentication failures|Git credentials for .* not found|Authorization error/i
const archived = /\b(?:repository|project|repo)\b[^\n]*\barchived\b|\barchived (?:repository|project)/i
const forbidden =
  /returned error: 403|Permission to \S+ denied|Write access to repository not granted|not allowed to (?:push|upload|download) code|User permission denied for writing|not authorized to (?:write|read)|marked as read.only|deploy key.* (?:read.only|not allowed)|enforced SAML SSO/i
const notFound =
  /returned error: 404|repository '[^\n]*' not found|Repository not found|could not be found or you don't have permission|project you were looking for could not be found|does not appear to be a git repository|Cannot find repository/i

/**
 * Reads what git and the remote said of a failed push, fetch or look: `said` has git's messages and the lines of
 * `--porcelain`. Without a line that refuses a branch, and without words of a refusal, the remote couldn't be reached.
 */
export function readRefusal(said: string): PushRefusal {
  const isRefused = /^!\t|^ ! \[/m.test(said)
  if (isRefused || /(?:HTTP|error:) 413\b/.test(said)) {
    if (!isAllowed(said)) return { code: isArchived(said) ? 'archived' : 'forbidden', reason: null }
    const reason = rejections.find(([, words]) => words.test(said))?.[0]
    return { code: 'rejected', reason: reason ?? 'other' }
  }
  if (isArchived(said)) return { code: 'archived', reason: null }
  if (notFound.test(said)) return { code: 'not_found', reason: null }
  if (unauthorized.test(said)) return { code: 'unauthorized', reason: null }
  if (forbidden.test(said)) return { code: 'forbidden', reason: null }
  if (/^(?:remote: )?fatal:|^ssh:|^error: (?:RPC failed|unable|could)|kex_exchange|Host key/im.test(said))
    return { code: 'unreachable', reason: null }
  return { code: 'rejected', reason: 'other' }
}

const isArchived = (said: string): boolean => archived.test(said)

/** Returns false if a hook of the server says that the account has no right to write at all. */
const isAllowed = (said: string): boolean =>
  !isArchived(said) && !/not allowed to push code to this project|User permission denied for writing/i.test(said)

const progress =
  /^(?:Enumerating|Counting|Compressing|Writing|Receiving|Unpacking|Resolving|Finding|Total |Delta compression|Processed \d+ references|Uploading LFS|Locking support detected|POST git-|Everything up-to-date|Pushing to |To |From |Done$|hint:)/

/** The longest text that is kept, in bytes. */
const maxOutput = 8 * 1024

/**
 * Returns what is worth reading of git's stderr: without progress, hints and the `remote:` before each of the server's
 * lines; its end, if it is long. `plain` removes terminal codes and secrets.
 */
export function readableOutput(stderr: string, plain: (text: string) => string): string {
  const lines = plain(stderr)
    .split('\n')
    // A progress meter writes over its own line.
    .map((line) => line.replace(/\r+$/, '').replace(/^.*\r/, ''))
    .map((line) => line.replace(/^remote: ?/, '').trimEnd())
    .filter((line) => !progress.test(line) && !/^error: failed to push some refs|askpass/.test(line))
  const text = lines
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()
  const bytes = Buffer.from(text)
  if (bytes.length <= maxOutput) return text
  const tail = bytes.subarray(bytes.length - maxOutput)
  const start = tail.indexOf(0x0a) + 1
  // Without a line end the cut may be within a character.
  return start > 0 ? tail.toString('utf8', start) : tail.toString('utf8').replace(/^\uFFFD+/, '')
}
