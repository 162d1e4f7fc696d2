#!/usr/bin/env node
import { findResources } from './platform/config/paths.ts'
import { runCli } from './cli/program.ts'

const program = findResources(import.meta.dirname)
const code = await runCli(process.argv.slice(2), {
  version: program.version,
  // Loaded only when asked for: the other commands are clients and start in a blink.
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
