import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureBuilt } from './build.mjs'
import { ensureNode } from './node.mjs'
import { ensureDependencies } from './setup.mjs'
import { capture } from './support/child.mjs'
import { failWith, root, say } from './support/project.mjs'

// npm run dist:check: packs the app as electron-builder does, around an empty Electron, and looks at what is inside.
// It says nothing about Electron's own program, about signing, or about the installers.
try {
  const bin = await ensureNode()
  await ensureDependencies(bin)
  // A test looks at what its run has built: a build of now would take the files from under the others.
  if (!process.argv.includes('--as-built')) await ensureBuilt(bin)
  const { packWithoutElectron } = await import('./support/package-pack.mjs')
  const { problemsIn } = await import('./support/package-contents.mjs')
  const folder = await mkdtemp(join(tmpdir(), 'copse-package-'))
  try {
    const packed = await packWithoutElectron(folder)
    const { problems, summary } = problemsIn(packed)
    const register = join(root, 'test', 'e2e', 'harness', 'package-start.ts')
    const started = await capture(process.execPath, [register, packed.app], { cwd: folder })
    if (started.code !== 0) problems.push(`the packed main does not start: ${started.output.trim()}`)
    for (const problem of problems) say(problem)
    console.log(summary)
    process.exitCode = problems.length > 0 ? 1 : 0
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
} catch (error) {
  failWith(error)
}
