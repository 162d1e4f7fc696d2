import type { Command } from 'commander'
import { addCommand } from '../command-context.ts'

export interface ServeOptions {
  readonly host?: string
  readonly port?: string
  readonly dataDir?: string
  readonly expose?: boolean
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly json: boolean
}

/** Adds `svc serve`. `run` starts the service and resolves to the exit code. */
export function addServe(program: Command, run: (options: ServeOptions) => Promise<number>): void {
  addCommand(program, {
    usage: 'serve',
    summary: 'run the service until SIGINT or SIGTERM',
    examples: ['svc serve', 'svc serve --port 0 --data-dir ~/copse-data --json'],
  })
    .option('--host <address>', 'where to listen (SVC_HOST, default 127.0.0.1)')
    .option('--port <number>', 'port, 0 for a free one (SVC_PORT, default 4870)')
    .option('--data-dir <folder>', 'where everything is kept (SVC_DATA_DIR)')
    .option('--expose', 'allow --host to reach beyond this machine (SVC_EXPOSE=1): who can reach it can try to sign in')
    .option('--tls-cert <file>', 'PEM certificate chain, to speak HTTPS (SVC_TLS_CERT)')
    .option('--tls-key <file>', 'PEM key of the certificate (SVC_TLS_KEY)')
    .option('--json', 'print one JSON line once it listens', false)
    .action(async (options: ServeOptions) => {
      process.exitCode = await run(options)
    })
}
