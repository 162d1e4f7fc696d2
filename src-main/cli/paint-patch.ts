import { paint, plain } from './output.ts'

/** A patch for a terminal, coloured as git does it. */
export function paintPatch(patch: string): string {
  let inHunk = false
  return patch
    .split('\n')
    .map((line) => {
      const text = plain(line)
      if (text.startsWith('diff --git ')) inHunk = false
      if (text.startsWith('@@')) inHunk = true
      return paintLine(text, inHunk)
    })
    .join('\n')
}

function paintLine(text: string, inHunk: boolean): string {
  if (text === '') return text
  if (!inHunk) return paint('bold', text)
  if (text.startsWith('@@')) return paint('cyan', text)
  if (text.startsWith('+')) return paint('green', text)
  return text.startsWith('-') ? paint('red', text) : text
}
