/** The configuration of an MCP client. The token stays out of the file if the client allows that. */
export interface ClientConfig {
  readonly id: string
  /** The name of the client. */
  readonly label: string
  /** The path of its configuration file. */
  readonly file: string
  /** The way the client gets the token. */
  readonly token: 'environment' | 'asked'
  /** The content of the file. */
  readonly text: string
}

/** The environment variable of the token. */
export const tokenVariable = 'COPSE_TOKEN'

/** The client shown first. */
export const firstClient = 'claude-code'

/** Returns the configurations of common clients for the address of this service. */
export function clientConfigs(address: string): readonly ClientConfig[] {
  const url = `${address}/api/v1/mcp`
  const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })
  return [
    {
      id: firstClient,
      label: 'Claude Code',
      file: '.mcp.json',
      token: 'environment',
      text: json({ mcpServers: { copse: { type: 'http', url, headers: bearer(`\${${tokenVariable}}`) } } }),
    },
    {
      id: 'codex',
      label: 'Codex',
      file: '~/.codex/config.toml',
      token: 'environment',
      text: `[mcp_servers.copse]\nurl = "${url}"\nbearer_token_env_var = "${tokenVariable}"`,
    },
    {
      id: 'gemini',
      label: 'Gemini',
      file: '.gemini/settings.json',
      token: 'environment',
      text: json({ mcpServers: { copse: { httpUrl: url, headers: bearer(`$${tokenVariable}`) } } }),
    },
    {
      id: 'opencode',
      label: 'opencode',
      file: 'opencode.json',
      token: 'environment',
      text: json({
        $schema: 'https://opencode.ai/config.json',
        mcp: { copse: { type: 'remote', url, headers: bearer(`{env:${tokenVariable}}`) } },
      }),
    },
    {
      id: 'cursor',
      label: 'Cursor',
      file: '.cursor/mcp.json',
      token: 'environment',
      text: json({ mcpServers: { copse: { url, headers: bearer(`\${env:${tokenVariable}}`) } } }),
    },
    {
      id: 'vscode',
      label: 'VS Code',
      file: '.vscode/mcp.json',
      token: 'asked',
      text: json({
        inputs: [{ type: 'promptString', id: 'copse-token', description: 'Personal token of Copse', password: true }],
        servers: { copse: { type: 'http', url, headers: bearer('${input:copse-token}') } },
      }),
    },
  ]
}

const json = (value: unknown): string => JSON.stringify(value, null, 2)
