/** The name under which agents see our MCP server. */
export const mcpServerName = 'svc'
