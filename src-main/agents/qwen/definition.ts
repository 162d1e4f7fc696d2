import { join } from 'node:path'
import type { AcpAgent } from '../acp/acp-agent.ts'
import { defineAcpAgent } from '../acp/acp-profile.ts'
import { acpRefusedArgs } from '../acp/refused-args.ts'
import { hasFile, hasVariable } from '../agent/signed-in.ts'

/** Qwen Code in its `--acp` mode. */
export const qwen: AcpAgent = {
  configNames: ['.qwen'],
  program: {
    executor: 'qwen',
    needs: {
      word: 'qwen',
      folders: ['~/.qwen'],
      hosts: ['*.aliyuncs.com', 'chat.qwen.ai'],
      variables: ['QWEN_', 'OPENAI_', 'DASHSCOPE_'],
    },
    program: 'qwen',
    installHint: 'Install Qwen Code with `npm install -g @qwen-code/qwen-code` and run `qwen` once to sign in.',
    signInHint: 'Run `qwen` once to sign in, or set OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_MODEL.',
    signedIn: (env, home) => {
      const folder = join(home, '.qwen')
      if (hasVariable(env, ['OPENAI_API_KEY', 'DASHSCOPE_API_KEY', 'BAILIAN_CODING_PLAN_API_KEY'])) return true
      if (hasFile([join(folder, 'oauth_creds.json')])) return true
      return hasFile([join(folder, 'settings.json'), join(folder, '.env'), join(home, '.env')]) ? null : false
    },
  },
  args: ({ config }, own) => [...own, '--acp', ...(config.model === undefined ? [] : ['--model', config.model])],
  refusedArgs: acpRefusedArgs({
    '--approval-mode': 'one',
    '--yolo': 'none',
    '--mcp-config': 'one',
    '--json-schema': 'one',
  }),
  configuresViaProtocol: false,
}

export const definition = defineAcpAgent(qwen)
