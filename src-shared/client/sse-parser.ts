/** One event of a server-sent event stream, or a number alone: then `event` and `data` are empty. */
export interface SseEvent {
  readonly id: string | null
  readonly event: string
  readonly data: string
}

/** Parses a stream's text, however it is split; `push` returns the events that are complete. */
export interface SseParser {
  push(text: string): SseEvent[]
}

/** Creates a parser for one connection. Skips comments and unknown fields. */
export function createSseParser(): SseParser {
  let rest = ''
  let id: string | null = null
  let event = ''
  let data: string[] = []
  const finish = (): SseEvent | null => {
    const alone = id === null ? null : { id, event: '', data: '' }
    const finished = data.length > 0 ? { id, event: event || 'message', data: data.join('\n') } : alone
    id = null
    event = ''
    data = []
    return finished
  }
  const readLine = (line: string): SseEvent | null => {
    if (line === '') return finish()
    const colon = line.indexOf(':')
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'data') data.push(value)
    else if (field === 'event') event = value
    else if (field === 'id') id = value
    return null
  }
  return {
    push: (text) => {
      const lines = (rest + text).split(/\r\n|\n|\r(?!$)/)
      rest = lines.pop() ?? ''
      return lines.map(readLine).filter((finished) => finished !== null)
    },
  }
}
