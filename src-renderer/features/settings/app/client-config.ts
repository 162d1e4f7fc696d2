/** How a program that speaks MCP is told of the service. The token stays out of the file, where the program allows it. */
export interface ClientConfig {
  readonly id: string
  /** The program's own name. */
  readonly label: string
  /** Where its configuration lies. */
  readonly file: string
  /** Where the token goes. */
  readonly token: 'environment' | 'asked'
  /** What to put into the file. */
  readonly text: string
}

/** The environment variable that holds the token. */
export const tokenVariable = 'COPSE_TOKEN'

/** The program that is shown first. */
export const firstClient = 'claude-code'

/** Ready configurations for the clients that people use, with the address of this service. */
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
