#!/usr/bin/env node
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { findResources } from './platform/config/paths.ts'

const program = findResources(import.meta.dirname)
// To compile the commands takes as long as all else that a short one does. Not in the folder for temporary files, where
// others could lay code for it.
enableCompileCache(join(program.root, 'node_modules', '.cache', 'svc'))
const { runCli } = await import('./cli/program.ts')
const code = await runCli(process.argv.slice(2), {
  version: program.version,
  // Loads the service only on demand, so that the client commands start fast.
  serve: async ({ json, ...options }) => {
    const [{ serve }, { announce }] = await Promise.all([import('./service/serve.ts'), import('./service/present.ts')])
    return serve({ program, env: process.env, anyPort: false, ...options }, (service) =>
      Promise.resolve(announce(service, json)),
    )
  },
  connectRunner: async (options) => {
    const { connectRunner } = await import('./runner/connect.ts')
    return connectRunner(options, { version: program.version, program: program.runnerProgram })
  },
  rotateKey: async (options) => {
    const { rotateKey } = await import('./service/rotate-key.ts')
    return rotateKey({ program, env: process.env, ...options })
  },
  backUp: async (options) => {
    const { backUp } = await import('./service/backup/back-up.ts')
    return backUp({ program, env: process.env, database: await import('./store/copy-database.ts'), ...options })
  },
  restore: async (options) => {
    const { restore } = await import('./service/backup/restore.ts')
    return restore({ program, env: process.env, database: await import('./store/copy-database.ts'), ...options })
  },
  demo: async (options) => {
    const { runDemo } = await import('./service/demo.ts')
    return runDemo({ program, env: process.env, ...options })
  },
})
process.exit(code)
