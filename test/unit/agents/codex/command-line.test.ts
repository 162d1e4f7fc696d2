import { expect, test } from 'vitest'
import { filterArgs } from '../../../../src-main/agents/agent/filter-args.ts'
import { buildCodexCommandLine, codexRefusedArgs } from '../../../../src-main/agents/codex/command-line.ts'

const plain = { model: null, effort: null, session_id: null, mcp_url: null, args: [] }
const protocol = ['--json', '--skip-git-repo-check']
const settings = (sandbox = 'danger-full-access'): string[] => [
  ...['-c', `sandbox_mode='${sandbox}'`],
  ...['-c', "approval_policy='never'"],
  ...['-c', 'check_for_update_on_startup=false'],
]

test('reads the prompt on stdin, prints JSON and asks no one', () => {
  expect(buildCodexCommandLine(plain)).toEqual(['exec', ...protocol, ...settings(), '-'])
})

test('puts model, session and MCP after the agent’s arguments, and the token nowhere', () => {
  const args = ['-c', 'web_search="live"', '--add-dir', '/a']
  const line = buildCodexCommandLine({
    model: 'gpt-5.5',
    effort: 'high',
    session_id: 't1',
    mcp_url: 'http://127.0.0.1:1/mcp',
    args,
  })
  const server =
    "{url='http://127.0.0.1:1/mcp',bearer_token_env_var='SVC_API_TOKEN',default_tools_approval_mode='approve'}"
  expect(line).toEqual([
    ...['exec', ...args, ...protocol, ...settings()],
    ...['-c', "model_reasoning_effort='high'"],
    ...['-c', `mcp_servers.svc=${server}`],
    ...['--model', 'gpt-5.5', 'resume', 't1', '-'],
  ])
})

test.each([
  [['-s', 'workspace-write']],
  [['--sandbox', 'workspace-write']],
  [['--sandbox=workspace-write']],
  [['-c', 'sandbox_mode="workspace-write"']],
])('turns the sandbox in %o into the setting, also for a resumed run', (args) => {
  expect(buildCodexCommandLine({ ...plain, args })).toEqual(['exec', ...protocol, ...settings('workspace-write'), '-'])
})

test('drops an unknown sandbox', () => {
  const line = buildCodexCommandLine({ ...plain, args: ['-s', 'weird'] })
  expect(line).toEqual(['exec', ...protocol, ...settings(), '-'])
})

test.each([
  [['--json', '-m', 'x', '--full-auto'], []],
  [['resume', 'other'], []],
  [
    ['-C', '/elsewhere', '-p', 'work'],
    ['-p', 'work'],
  ],
  [['--dangerously-bypass-approvals-and-sandbox', '--search'], ['--search']],
])('reduces %o to %o', (given, kept) => {
  expect(filterArgs(given, codexRefusedArgs).args).toEqual(kept)
})
