import type { ReviewNote } from '../../src-shared/contract/reviews.ts'
import { createTimeSlices } from '../platform/process/time-slices.ts'
import type { BranchMessage, FileChange } from '../ports/diff-reader.ts'

type SecretNote = Extract<ReviewNote, { kind: 'secret' }>
type SecretFile = SecretNote['files'][number]

/** Names of files that hold credentials; templates of them don't. */
const secretName =
  /(?:^|\/)(?:\.env(?:\.(?!example|sample|template|dist|defaults?)[\w-]+)*|\.envrc|\.netrc|\.pgpass|\.npmrc|\.pypirc|\.htpasswd|id_(?:rsa|dsa|ecdsa|ed25519)|[^/]+\.(?:pem|key|p12|pfx|jks|keystore|ppk|kdbx)|(?:credentials?|secrets?|service[-_]?account(?:[-_]?key)?)(?:\.(?:json|ya?ml|toml|ini|env|txt))|\.aws\/credentials|\.docker\/config\.json)$/i

const maxEntries = 50
const maxLines = 20

/** What the work adds. */
export interface AddedText {
  readonly files: readonly FileChange[]
  /** Patches in git's format; one after the other, because each may be large. */
  readonly patches: AsyncIterable<string>
  readonly messages: readonly BranchMessage[]
}

/** Finds what looks like a secret: text that `redact` would change, and names of files that hold some. */
export async function findSecrets(added: AddedText, redact: (text: string) => string): Promise<SecretNote | null> {
  const lines = new Map<string, number[]>()
  const letOthersGo = createTimeSlices()
  for await (const patch of added.patches) {
    for (const { path, line, text } of addedLines(patch)) {
      await letOthersGo()
      if (redact(text) === text) continue
      const found = lines.get(path) ?? []
      if (found.length < maxLines) found.push(line)
      lines.set(path, found)
    }
  }
  for (const { path, status } of added.files) {
    const isNew = status === 'added' || status === 'renamed'
    if (isNew && (secretName.test(path) || redact(path) !== path) && !lines.has(path)) lines.set(path, [])
  }
  const commits = added.messages.filter(({ message }) => redact(message) !== message).map(({ id }) => id)
  if (lines.size + commits.length === 0) return null
  const files: SecretFile[] = [...lines].map(([path, found]) => ({ path: redact(path), lines: found }))
  return { kind: 'secret', files: files.slice(0, maxEntries), commits: commits.slice(0, maxEntries) }
}

interface AddedLine {
  readonly path: string
  readonly line: number
  readonly text: string
}

const hunk = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/

/**
 * Yields the added lines of a patch with their numbers. Counts each hunk's lines, because content may look like a
 * header.
 */
function* addedLines(patch: string): Iterable<AddedLine> {
  let [path, line, before, after] = ['', 0, 0, 0]
  for (const text of patch.split('\n')) {
    if (before + after > 0) {
      const mark = text[0]
      if (mark === '+') yield { path, line, text: text.slice(1) }
      if (mark === '+' || mark === ' ' || text === '') [line, after] = [line + 1, after - 1]
      if (mark === '-' || mark === ' ' || text === '') before -= 1
      continue
    }
    const start = hunk.exec(text)
    if (start) [before, line, after] = [Number(start[1] ?? 1), Number(start[2]), Number(start[3] ?? 1)]
    else if (text.startsWith('+++ ')) path = pathOf(text.slice('+++ '.length))
  }
}

/** Reads a path as git writes it: with a tab if it has spaces, in quotes if it has control characters. */
function pathOf(written: string): string {
  const name = written.replace(/\t$/, '')
  return name.startsWith('"') ? name.slice(1, -1).replace(/^b\//, '') : name.replace(/^b\//, '')
}
