import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from './project-root.ts'

/** A test as documents cite it: its file below `test/`, and its name in the source. */
export interface NamedTest {
  readonly path: string
  readonly name: string
}

const texts = new Map<string, string | null>()

function textOf(path: string): string | null {
  const known = texts.get(path)
  if (known !== undefined) return known
  const file = join(projectRoot, 'test', path)
  const text = existsSync(file) ? readFileSync(file, 'utf8') : null
  texts.set(path, text)
  return text
}

/** Returns why a cited test proves nothing; null if it exists and runs. */
export function problemOf(named: NamedTest): string | null {
  const text = textOf(named.path)
  return text === null ? `test/${named.path} is not there` : problemIn(text, named)
}

/** The same for a file of this text, which is formatted like all others. */
export function problemIn(text: string, { path, name }: NamedTest): string | null {
  const at = ["'", '"', '`'].map((quote) => text.indexOf(`${quote}${name}${quote},`)).find((found) => found >= 0)
  // Its function: the last identifier before, past the options of `test.runIf(…)` or `test.each([…])`.
  const call =
    at === undefined ? null : text.slice(0, at).match(/\b(?:test|it)\b[^\n]*\(\s*$|\](?: as const)?\)\(\s*$/)?.[0]
  if (!call) return `test/${path} has no test “${name}”`
  const isOff = /\.(?:skip|todo|fails)\b/.test(call) || isInSkipped(text, text.indexOf(name, at))
  return isOff ? `“${name}” in test/${path} does not run` : null
}

/** A skipped `describe` extends to the bracket with the same indentation. */
function isInSkipped(text: string, at: number): boolean {
  return [...text.matchAll(/^( *)describe\.(?:skip|todo)\b[^]*?^\1\}?\)$/gm)].some(
    (block) => block.index < at && at < block.index + block[0].length,
  )
}

/** The citation of a test in documents. */
export const spell = ({ path, name }: NamedTest): string => `\`${path}\` “${name}”`
