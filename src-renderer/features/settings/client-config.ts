/** The `.mcp.json` that connects Claude Code; the token stays in the environment, never in the file. */
export function claudeCodeConfig(url: string): string {
  const server = { type: 'http', url: `${url}/api/v1/mcp`, headers: { Authorization: 'Bearer ${COPSE_TOKEN}' } }
  return JSON.stringify({ mcpServers: { copse: server } }, null, 2)
}
