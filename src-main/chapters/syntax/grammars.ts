import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Language, Parser } from 'web-tree-sitter'

const parsers = new Map<string, Promise<Parser>>()
let started: Promise<void> | null = null

/** Returns the parser of a grammar, which is loaded at its first use. */
export function parserOf(grammar: string): Promise<Parser> {
  const known = parsers.get(grammar)
  if (known) return known
  const loading = load(grammar)
  parsers.set(grammar, loading)
  return loading
}

async function load(grammar: string): Promise<Parser> {
  started ??= Parser.init()
  await started
  const parser = new Parser()
  parser.setLanguage(await Language.load(await readFile(fileOf(grammar))))
  return parser
}

function fileOf(grammar: string): string {
  const { resolve } = createRequire(import.meta.url)
  if (grammar === 'c') return join(dirname(resolve('tree-sitter-c/package.json')), 'tree-sitter-c.wasm')
  const folder = dirname(resolve('@vscode/tree-sitter-wasm/package.json'))
  return join(folder, 'wasm', `tree-sitter-${grammar}.wasm`)
}
