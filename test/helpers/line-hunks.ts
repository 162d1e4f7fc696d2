import type { LineSpan } from '../../src-main/chapters/rules/hunk.ts'
import type { SyntaxHunk, SyntaxRequest } from '../../src-main/chapters/rules/syntax.ts'

/** A changed file with its hunks, without git: lines pair up if both sides have as many, else what differs is one run. */
export function changedFile(path: string, old_text: string, new_text: string): SyntaxRequest {
  return { path, old_text, new_text, has_old: true, hunks: hunksBetween(path, linesOf(old_text), linesOf(new_text)) }
}

const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'))

function hunksBetween(path: string, old: readonly string[], now: readonly string[]): readonly SyntaxHunk[] {
  const hunks: SyntaxHunk[] = []
  const add = (from: number, oldEnd: number, newEnd: number): void => {
    const [removed, added] = [old.slice(from, oldEnd), now.slice(from, newEnd)]
    const span = ({ length }: readonly string[]): LineSpan => [length === 0 ? from : from + 1, length]
    if (removed.length + added.length > 0)
      hunks.push({ id: `${path}:${from}`, old: span(removed), new: span(added), removed, added })
  }
  if (old.length === now.length) {
    for (let at = 0; at < old.length; at += 1) {
      const from = at
      while (at < old.length && old[at] !== now[at]) at += 1
      add(from, at, at)
    }
    return hunks
  }
  let from = 0
  while (from < Math.min(old.length, now.length) && old[from] === now[from]) from += 1
  let [oldEnd, newEnd] = [old.length, now.length]
  while (oldEnd > from && newEnd > from && old[oldEnd - 1] === now[newEnd - 1]) {
    oldEnd -= 1
    newEnd -= 1
  }
  add(from, oldEnd, newEnd)
  return hunks
}
