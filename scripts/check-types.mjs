import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { capture } from './support/child.mjs'
import { root } from './support/project.mjs'

// Everything with Vue's own checker, then the pure folders once more without Node, DOM and timers.
const cache = join(root, 'node_modules', '.cache', 'types')
const checks = [
  ['vue-tsc/bin/vue-tsc.js', '-p', 'tsconfig.json', '--incremental', '--tsBuildInfoFile', join(cache, 'all.json')],
  ['typescript/bin/tsc', '-p', 'tsconfig.pure.json', '--incremental', '--tsBuildInfoFile', join(cache, 'pure.json')],
]
let failed = false
for (const [file, ...args] of checks) {
  const program = join(root, 'node_modules', file)
  if (!existsSync(program)) throw new Error(`${program} is missing: run npm ci`)
  const { code, output } = await capture(process.execPath, [program, '--noEmit', ...args], { cwd: root })
  if (code === 0) continue
  failed = true
  console.error(output.trim())
}
process.exit(failed ? 1 : 0)
