import { expect, test } from 'vitest'
import { agentEnvironment } from '../../../../src-main/agents/agent/agent-environment.ts'
import { claudeUnsetEnv, claudeDefaultEnv } from '../../../../src-main/agents/claude-code/environment.ts'

type Variables = Readonly<Record<string, string>>
const claudeEnvironment = (
  config: Variables,
  run: Variables,
  inherited: Record<string, string | undefined>,
  isRoot: boolean,
) => agentEnvironment({ defaultEnv: () => claudeDefaultEnv(isRoot), unsetEnv: claudeUnsetEnv }, config, run, inherited)

const quiet = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1' }

test('inherits the person’s environment, is quiet, and hides a Claude Code around the service', () => {
  const inherited = { PATH: '/bin', CLAUDECODE: '1', CLAUDE_CODE_ENTRYPOINT: 'cli', SVC_SECRET: 'x', GONE: undefined }
  expect(claudeEnvironment({}, {}, inherited, false)).toEqual({ PATH: '/bin', ...quiet })
})

test('lets the agent’s variables override the person’s, and the run’s override all', () => {
  const config = { ANTHROPIC_BASE_URL: 'http://127.0.0.1:1', DISABLE_AUTOUPDATER: '0', SVC_TASK_ID: 'forged' }
  expect(
    claudeEnvironment(config, { SVC_TASK_ID: 'real' }, { ANTHROPIC_BASE_URL: 'http://127.0.0.1:2' }, false),
  ).toEqual({
    ...quiet,
    ...config,
    SVC_TASK_ID: 'real',
  })
})

test('sets the sandbox variable only as root', () => {
  expect(claudeEnvironment({}, {}, {}, true)).toEqual({ ...quiet, IS_SANDBOX: '1' })
})
