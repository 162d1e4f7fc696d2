import { createInterface } from 'node:readline'
import type { Command } from 'commander'
import { CliError, failureOf } from '../cli-error.ts'
import { bridgeMcp } from '../mcp-bridge.ts'
import { createMcpEndpoint } from '../mcp-endpoint.ts'
import { addClientCommand, runCommand, type CommonOptions, type CommandContext } from '../command-context.ts'

/** Adds `svc mcp`. */
export function addMcp(program: Command): void {
  addClientCommand(program, {
    usage: 'mcp',
    summary: 'speak MCP on stdin and stdout, for agents that start their tools as programs',
    examples: ['claude mcp add copse -- svc mcp', 'npx @modelcontextprotocol/inspector svc mcp'],
  }).action((options: CommonOptions) => runCommand(options, serveStdio))
}

async function serveStdio({ url, token, out }: CommandContext): Promise<void> {
  if (token === null) {
    throw new CliError('missing_token', `Not signed in to ${url}. Sign in with \`svc login\`, or set SVC_API_TOKEN.`)
  }
  const send = (message: string) => out.raw(`${message}\n`)
  await bridgeMcp({
    endpoint: createMcpEndpoint({ url: `${url}/api/v1/mcp`, token, send }),
    lines: createInterface({ input: process.stdin }),
    send,
    explain: (error) => {
      const failure = failureOf(error, url)
      if (failure === null) throw error
      return failure.message
    },
    complain: (text) => void process.stderr.write(`svc: ${text}\n`),
  })
}
