/** The address of an attachment in Markdown or HTML that begins at the tracker's root, as Gitea writes it. */
const rooted = /(\]\(<?|\b(?:src|href)=["'])(?=\/attachments\/)/g

/**
 * Makes root-relative URLs of pictures and files absolute, because they work only on the tracker. Code and all other
 * text stay as they are.
 */
export function withWholeAddresses(text: string, web: string): string {
  if (!text.includes('/attachments/')) return text
  let fence: string | null = null
  return text
    .split('\n')
    .map((line) => {
      const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
      if (fence !== null) {
        if (mark?.startsWith(fence) === true && line.trim() === mark) fence = null
        return line
      }
      if (mark === undefined) return inLine(line, web)
      fence = mark
      return line
    })
    .join('\n')
}

/** Skips inline code: it ends at as many backticks as it starts with. */
function inLine(line: string, web: string): string {
  if (!line.includes('/attachments/')) return line
  const runs = [...line.matchAll(/`+/g)]
  const lastSeen = new Map<number, number>()
  const closing = new Array<number | undefined>(runs.length)
  for (let index = runs.length - 1; index >= 0; index--) {
    const length = runs[index]?.[0].length ?? 0
    closing[index] = lastSeen.get(length)
    lastSeen.set(length, index)
  }
  let from = 0
  let whole = ''
  for (let index = 0; index < runs.length; index++) {
    const open = runs[index]
    const close = runs[closing[index] ?? -1]
    if (!open || !close) continue
    const end = close.index + close[0].length
    whole += line.slice(from, open.index).replace(rooted, `$1${web}`) + line.slice(open.index, end)
    from = end
    index = closing[index] ?? index
  }
  return whole + line.slice(from).replace(rooted, `$1${web}`)
}
