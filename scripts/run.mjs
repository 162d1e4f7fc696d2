import { join } from 'node:path'
import { ensureNode } from './node.mjs'
import { ensureDependencies } from './setup.mjs'
import { runAs, withPath } from './support/child.mjs'
import { failWith, root } from './support/project.mjs'

// node scripts/run.mjs COMMAND ARGS…: COMMAND from node_modules/.bin or PATH, on the right Node, set up.
const [command, ...args] = process.argv.slice(2)
if (command === undefined) {
  console.error('usage: node scripts/run.mjs COMMAND [ARGS…]')
  process.exit(2)
}
try {
  const bin = await ensureNode()
  await ensureDependencies(bin)
  const env = withPath([bin, join(root, 'node_modules', '.bin')])
  process.exit(await runAs(command, args, { env, shell: process.platform === 'win32' }))
} catch (error) {
  failWith(error)
}
