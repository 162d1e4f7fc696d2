import type { FilesPlace } from './issue-address.ts'

/** An address in Markdown or HTML that begins with a slash, as Gitea and GitLab write that of an attachment. */
const rooted = /(\]\(<?|\b(?:src|href)=["'])(?=(\/[\w-]+\/))/g

const whole = (text: string, { path, web }: FilesPlace): string =>
  text.replace(rooted, (found, before: string, start: string) => (start === path ? before + web : found))

/**
 * Makes root-relative URLs of pictures and files absolute, because they work only on the tracker. Code and all other
 * text stay as they are.
 */
export function withWholeAddresses(text: string, files: FilesPlace): string {
  if (!text.includes(files.path)) return text
  let fence: string | null = null
  return text
    .split('\n')
    .map((line) => {
      const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
      if (fence !== null) {
        if (mark?.startsWith(fence) === true && line.trim() === mark) fence = null
        return line
      }
      if (mark === undefined) return inLine(line, files)
      fence = mark
      return line
    })
    .join('\n')
}

/** Skips inline code: it ends at as many backticks as it starts with. */
function inLine(line: string, files: FilesPlace): string {
  if (!line.includes(files.path)) return line
  const runs = [...line.matchAll(/`+/g)]
  const lastSeen = new Map<number, number>()
  const closing = new Array<number | undefined>(runs.length)
  for (let index = runs.length - 1; index >= 0; index--) {
    const length = runs[index]?.[0].length ?? 0
    closing[index] = lastSeen.get(length)
    lastSeen.set(length, index)
  }
  let from = 0
  let text = ''
  for (let index = 0; index < runs.length; index++) {
    const open = runs[index]
    const close = runs[closing[index] ?? -1]
    if (!open || !close) continue
    const end = close.index + close[0].length
    text += whole(line.slice(from, open.index), files) + line.slice(open.index, end)
    from = end
    index = closing[index] ?? index
  }
  return text + whole(line.slice(from), files)
}
