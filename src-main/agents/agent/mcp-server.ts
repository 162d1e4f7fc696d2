/** The name of Copse's MCP server in agents' settings. */
export const mcpServerName = 'svc'
