#!/usr/bin/env node
import { findResources } from './platform/config/paths.ts'
import { runCli } from './cli/program.ts'

const program = findResources(import.meta.dirname)
const code = await runCli(process.argv.slice(2), {
  version: program.version,
  // Loads the service only on demand, so that the client commands start fast.
  serve: async ({ json, ...options }) => {
    const [{ serve }, { announce }] = await Promise.all([import('./service/serve.ts'), import('./service/present.ts')])
    return serve({ program, env: process.env, anyPort: false, ...options }, (service) =>
      Promise.resolve(announce(service, json)),
    )
  },
  rotateKey: async (options) => {
    const { rotateKey } = await import('./service/rotate-key.ts')
    return rotateKey({ program, env: process.env, ...options })
  },
  demo: async (options) => {
    const { runDemo } = await import('./service/demo.ts')
    return runDemo({ program, env: process.env, ...options })
  },
})
process.exit(code)
