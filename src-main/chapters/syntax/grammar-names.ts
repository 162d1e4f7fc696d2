/** Grammars by the ending of a file's name; C has its own package. */
const endings: Readonly<Record<string, readonly string[]>> = {
  typescript: ['ts', 'mts', 'cts'],
  tsx: ['tsx'],
  javascript: ['js', 'mjs', 'cjs', 'jsx'],
  python: ['py', 'pyi'],
  go: ['go'],
  rust: ['rs'],
  java: ['java'],
  'c-sharp': ['cs'],
  ruby: ['rb', 'rake'],
  php: ['php'],
  cpp: ['cc', 'cpp', 'cxx', 'hh', 'hpp', 'hxx'],
  c: ['c', 'h'],
  bash: ['sh', 'bash'],
  powershell: ['ps1', 'psm1'],
  css: ['css'],
}
const byEnding = new Map(Object.entries(endings).flatMap(([name, all]) => all.map((ending) => [ending, name] as const)))

/** Returns the name of the grammar for a file, or null. */
export function grammarOf(path: string): string | null {
  const ending = /\.([A-Za-z0-9]+)$/.exec(path)?.[1]?.toLowerCase()
  return ending === undefined ? null : (byEnding.get(ending) ?? null)
}
