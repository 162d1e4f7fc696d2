/** What Copse asks an agent about a conflict, in the name of the person who let it resolve one. */
export interface ConflictRequest {
  readonly base: string
  /** The number of conflicting files. */
  readonly files: number
}

/** Returns the first lines of the request's text, by which it is told from a person's own words. */
export function conflictRequestText(base: string, branch: string, files: number): string {
  const meets = files === 1 ? 'one file conflicts' : `${files} files conflict`
  return [
    `## Resolve the conflict with ${base}`,
    `${base} has changed since this branch (${branch}) was made from it, and ${meets} with it.`,
  ].join('\n\n')
}

/** Reads a request from a text that has it; null for any other text. */
export function readConflictRequest(text: string): ConflictRequest | null {
  const found =
    /^## Resolve the conflict with (.+)\n\n.+ was made from it, and (?:(one) file conflicts|(\d+) files conflict) with it\./m.exec(
      text,
    )
  if (!found) return null
  return { base: found[1] ?? '', files: found[2] === undefined ? Number(found[3]) : 1 }
}
