import { GitProtocolError } from '../../ports/arrivals.ts'

// Git's protocol wraps what is said in lines with a length of four hexadecimal digits, which counts itself.

const maxLine = 65_520

export const flush = Buffer.from('0000')

export function pktLine(content: string | Uint8Array): Buffer {
  const bytes = Buffer.from(content)
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes])
}

/** Wraps bytes for the pack's band 1, or the words for people of band 2. */
export function onBand(band: 1 | 2, content: Uint8Array): Buffer {
  const lines: Buffer[] = []
  const most = maxLine - 5
  for (let at = 0; at < content.length; at += most)
    lines.push(pktLine(Buffer.concat([Buffer.from([band]), content.subarray(at, at + most)])))
  return Buffer.concat(lines)
}

/** Makes a sentence fit into one line, which git shows to the one who fetches. */
export const errorLine = (sentence: string): Buffer => pktLine(`ERR ${oneLine(sentence)}`)

export const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim().slice(0, 2_000)

export interface PktReader {
  /** Returns a line without its length, `flush`, or null at the end. */
  line(): Promise<Buffer | 'flush' | null>
  /** Returns what follows the lines that were read. */
  rest(): AsyncIterable<Uint8Array>
}

/** Reads lines one by one; what follows them is not touched. */
export function readPktLines(chunks: AsyncIterable<Uint8Array>): PktReader {
  const source = chunks[Symbol.asyncIterator]()
  let held = Buffer.alloc(0)
  const fill = async (length: number): Promise<boolean> => {
    while (held.length < length) {
      const next = await source.next()
      if (next.done === true) return false
      held = Buffer.concat([held, next.value])
    }
    return true
  }
  const take = (length: number): Buffer => {
    const taken = held.subarray(0, length)
    held = held.subarray(length)
    return taken
  }
  return {
    line: async () => {
      if (!(await fill(4))) {
        if (held.length > 0) throw cutShort()
        return null
      }
      const text = held.toString('latin1', 0, 4)
      const length = /^[0-9a-fA-F]{4}$/.test(text) ? Number.parseInt(text, 16) : -1
      if (length === 0) {
        take(4)
        return 'flush'
      }
      if (length < 4 || length > maxLine) throw new GitProtocolError('This is not git’s protocol, version 0.')
      if (!(await fill(length))) throw cutShort()
      return take(length).subarray(4)
    },
    rest: async function* () {
      if (held.length > 0) yield take(held.length)
      for (let next = await source.next(); next.done !== true; next = await source.next()) yield next.value
    },
  }
}

const cutShort = (): GitProtocolError => new GitProtocolError('The request ended before all of it was there.')
