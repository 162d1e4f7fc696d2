import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mcpServerName } from './command-line.ts'

/** A file that only this user can read, with our MCP server in it. Disposing removes it; twice is harmless. */
export interface McpConfigFile extends AsyncDisposable {
  readonly path: string
}

/**
 * Writes the MCP configuration outside the worktree, so that its token can't be committed, and to a
 * file, so that it does not show in the list of processes.
 */
export async function writeMcpConfig(mcp: { readonly url: string; readonly token: string }): Promise<McpConfigFile> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-mcp-'))
  const path = join(folder, 'mcp.json')
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true })
  const server = { type: 'http', url: mcp.url, headers: { Authorization: `Bearer ${mcp.token}` } }
  try {
    await writeFile(path, JSON.stringify({ mcpServers: { [mcpServerName]: server } }), { mode: 0o600 })
  } catch (error) {
    await remove()
    throw error
  }
  return { path, [Symbol.asyncDispose]: remove }
}
