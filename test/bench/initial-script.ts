import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { projectRoot } from '../helpers/project-root.ts'

const folder = join(projectRoot, 'dist', 'renderer')

/** The script files that the built page loads at once: its entry and all that this imports statically. */
export async function initialScript(): Promise<{ readonly files: readonly string[]; readonly compressed: number }> {
  const page = await readFile(join(folder, 'index.html'), 'utf8')
  const entry = /<script type="module"[^>]* src="\.\/assets\/([^"]+)"/.exec(page)?.[1]
  if (entry === undefined) throw new Error('The built page has no script: npm run build')
  const files: string[] = [entry]
  let compressed = 0
  // The list grows while it is walked.
  for (const file of files) {
    const text = await readFile(join(folder, 'assets', file), 'utf8')
    compressed += gzipSync(text).byteLength
    for (const imported of importsOf(text)) if (!files.includes(imported)) files.push(imported)
  }
  return { files, compressed }
}

/** `import "./x.js"` and `… from "./x.js"`, but not `import("./x.js")`. */
function importsOf(text: string): readonly string[] {
  return [...text.matchAll(/(?:\bimport|\bfrom)\s*["'`]\.\/([\w.-]+\.js)["'`]/g)].flatMap(([, name]) => name ?? [])
}
