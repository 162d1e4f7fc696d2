#!/usr/bin/env node
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ensureBuilt } from './build.mjs'
import { ensureNode } from './node.mjs'
import { ensureDependencies } from './setup.mjs'
import { runAs, withPath } from './support/child.mjs'
import { failWith, root } from './support/project.mjs'

// The `svc` command from a clone: sets up and builds what is missing (told on stderr), then is the CLI.
try {
  const bin = await ensureNode()
  await ensureDependencies(bin)
  await ensureBuilt(bin)
  const cli = join(root, 'dist', 'main', 'cli.js')
  if (bin === dirname(process.execPath)) {
    process.argv[1] = cli
    await import(pathToFileURL(cli).href)
  } else {
    const node = join(bin, existsSync(join(bin, 'node.exe')) ? 'node.exe' : 'node')
    process.exit(await runAs(node, [cli, ...process.argv.slice(2)], { env: withPath([bin]) }))
  }
} catch (error) {
  failWith(error)
}
