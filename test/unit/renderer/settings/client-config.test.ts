import { expect, test } from 'vitest'
import { clientConfigs } from '../../../../src-renderer/features/settings/app/client-config.ts'

const configs = clientConfigs('http://127.0.0.1:4321')

test('contains the MCP address for each client, and a token in none', () => {
  expect(configs.map(({ label }) => label)).toEqual(['Claude Code', 'Codex', 'Gemini', 'opencode', 'Cursor', 'VS Code'])
  for (const { id, text } of configs) {
    expect(text, id).toContain('"http://127.0.0.1:4321/api/v1/mcp"')
    expect(text, id).not.toContain('svc_')
  }
})

test('is valid JSON where it is JSON, with a bearer header that the client fills', () => {
  const headers = configs
    .filter(({ file }) => file.endsWith('.json'))
    .map(({ text }) => /"Authorization": "Bearer ([^"]+)"/.exec(JSON.stringify(JSON.parse(text), null, 1))?.[1])
  expect(headers).toEqual([
    '${COPSE_TOKEN}',
    '$COPSE_TOKEN',
    '{env:COPSE_TOKEN}',
    '${env:COPSE_TOKEN}',
    '${input:copse-token}',
  ])
})
