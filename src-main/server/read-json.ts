import { ApiError } from '../../src-shared/contract/errors.ts'

/**
 * Maximum nesting of a body. The contract needs less than a tenth of it; code that recurses over a body must not
 * overflow.
 */
const maxDepth = 64

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Parses a body as strict JSON: UTF-8, unique keys, no `__proto__`, nested at most 64 deep. Returns undefined for an
 * empty body. Throws `invalid_json`.
 */
export function readJson(body: Buffer): unknown {
  if (body.length === 0) return undefined
  const text = decode(body)
  // Before it is parsed: five megabytes of brackets become a gigabyte of arrays.
  checkDepth(text)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw invalidJson('The body is not valid JSON.', { cause: error })
  }
  checkStructure(text)
  return value
}

function decode(body: Buffer): string {
  try {
    return utf8.decode(body)
  } catch (error) {
    throw invalidJson('The body is not UTF-8.', { cause: error })
  }
}

const quote = 0x22
const backslash = 0x5c
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d

/** Checks text that may be no JSON: what is nested too deep in it would be in JSON, too. */
function checkDepth(text: string): void {
  let depth = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === quote) index = endOfString(text, index)
    else if (code === openBrace || code === openBracket) depth += 1
    else if (code === closeBrace || code === closeBracket) depth -= 1
    if (depth > maxDepth) throw invalidJson(`The body is nested deeper than ${maxDepth} levels.`)
  }
}

/** Checks text that is valid JSON. `JSON.parse` accepts duplicate keys. */
function checkStructure(text: string): void {
  /** The keys of each open object; null for an array. */
  const open: (Set<string> | null)[] = []
  let expectsKey = false
  for (let index = 0; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case openBrace:
      case openBracket: {
        const isObject = text.charCodeAt(index) === openBrace
        open.push(isObject ? new Set() : null)
        expectsKey = isObject
        break
      }
      case closeBrace:
      case closeBracket:
        open.pop()
        expectsKey = false
        break
      case 0x2c: // ,
        expectsKey = open.at(-1) !== null
        break
      case quote: {
        const end = endOfString(text, index)
        if (expectsKey) note(open.at(-1) ?? null, text.slice(index, end + 1))
        expectsKey = false
        index = end
      }
    }
  }
}

function endOfString(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === backslash) index++
    else if (code === quote) return index
  }
  return text.length
}

function note(keys: Set<string> | null, quoted: string): void {
  const key = quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1)
  if (key === '__proto__') throw invalidJson("The body can't have a key __proto__.")
  if (keys?.has(key))
    throw invalidJson(`The body has the key ${JSON.stringify(key).slice(0, 100)} twice in one object.`)
  keys?.add(key)
}

const invalidJson = (message: string, options?: ErrorOptions) =>
  new ApiError({ code: 'invalid_json', message }, options)
