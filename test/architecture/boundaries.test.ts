import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { copyProject, projectRoot } from './project-copy.ts'

interface Report {
  readonly modules: number
  readonly violations: readonly { readonly rule: string; readonly text: string }[]
}
interface Rule {
  readonly name: string
  readonly comment: string
}

const { checkBoundaries } = (await import(new URL('./check-boundaries.mjs', import.meta.url).href)) as {
  checkBoundaries(folder: string): Promise<Report>
}
const { default: config } = (await import(new URL('../../.dependency-cruiser.mjs', import.meta.url).href)) as {
  default: { readonly forbidden: readonly Rule[] }
}

/** One wrong import per rule: its file and line. */
const planted: Readonly<Record<string, readonly [file: string, line: string]>> = {
  'lang-imports-nothing': ['src-shared/lang/planted.ts', "import '../contract/ids.ts'"],
  contract: ['src-shared/contract/planted.ts', "import '../client/create-client.ts'"],
  client: ['src-shared/client/planted.ts', "import '../../src-main/platform/config/paths.ts'"],
  domain: ['src-main/domain/planted.ts', "import '../platform/config/paths.ts'"],
  platform: ['src-main/platform/planted.ts', "import '../../src-shared/contract/ids.ts'"],
  ports: ['src-main/ports/planted.ts', "import '../core/event-feed.ts'"],
  core: ['src-main/core/planted.ts', "import '../transitions/transitions.ts'"],
  transitions: ['src-main/transitions/planted.ts', "import type { Worktrees } from '../workspaces/worktrees.ts'"],
  workspaces: ['src-main/workspaces/planted.ts', "import '../executions/executions.ts'"],
  runners: ['src-main/runners/planted.ts', "import '../executions/executions.ts'"],
  jobs: ['src-main/jobs/planted.ts', "import '../core/event-feed.ts'"],
  executions: ['src-main/executions/planted.ts', "import '../hooks/run-plugin.ts'"],
  landing: ['src-main/landing/planted.ts', "import '../hooks/run-plugin.ts'"],
  overlaps: ['src-main/overlaps/planted.ts', "import '../hooks/run-plugin.ts'"],
  chapters: ['src-main/chapters/planted.ts', "import '../hooks/run-plugin.ts'"],
  hooks: ['src-main/hooks/planted.ts', "import '../plugins/create-plugins.ts'"],
  plugins: ['src-main/plugins/planted.ts', "import '../tasks/actions.ts'"],
  steps: ['src-main/steps/planted.ts', "import '../tasks/actions.ts'"],
  tasks: ['src-main/tasks/planted.ts', "import '../projects/repositories.ts'"],
  stacks: ['src-main/stacks/planted.ts', "import '../projects/repositories.ts'"],
  integrations: ['src-main/integrations/planted.ts', "import '../projects/repositories.ts'"],
  'pull-requests': ['src-main/pull-requests/planted.ts', "import '../projects/repositories.ts'"],
  projects: ['src-main/projects/planted.ts', "import '../engine/create-engine.ts'"],
  engine: ['src-main/engine/planted.ts', "import '../store/create-store.ts'"],
  'capabilities-without-adapters': ['src-main/hooks/planted-adapter.ts', "import './scripts/run-script.ts'"],
  store: ['src-main/store/planted.ts', "import '../git/create-git.ts'"],
  git: ['src-main/git/planted.ts', "import '../store/create-store.ts'"],
  'hook-scripts': ['src-main/hooks/scripts/planted.ts', "import '../hook-runs.ts'"],
  logs: ['src-main/logs/planted.ts', "import '../hooks/scripts/run-script.ts'"],
  attachments: ['src-main/attachments/planted.ts', "import '../logs/create-logs.ts'"],
  agents: ['src-main/agents/planted.ts', "import '../logs/create-logs.ts'"],
  containment: ['src-main/containment/planted.ts', "import '../logs/create-logs.ts'"],
  containers: ['src-main/containers/planted.ts', "import '../containment/create-containment.ts'"],
  'issue-trackers': ['src-main/integrations/forges/planted.ts', "import '../integrations.ts'"],
  identity: ['src-main/identity/planted.ts', "import '../store/create-store.ts'"],
  'workflow-files': ['src-main/workflow-files/planted.ts', "import '../engine/create-engine.ts'"],
  syntax: ['src-main/chapters/syntax/planted.ts', "import '../../logs/create-logs.ts'"],
  api: ['src-main/api/planted.ts', "import '../store/create-store.ts'"],
  'api-types': [
    'src-main/api/planted-types.ts',
    "import { createEngine } from '../engine/create-engine.ts'\nvoid createEngine",
  ],
  server: ['src-main/server/planted.ts', "import '../engine/create-engine.ts'"],
  'server-types': [
    'src-main/server/planted-types.ts',
    "import { createApi } from '../api/create-api.ts'\nvoid createApi",
  ],
  desktop: ['src-main/desktop/planted.ts', "import '../store/create-store.ts'"],
  'desktop-types': [
    'src-main/desktop/planted-types.ts',
    "import { createApi } from '../api/create-api.ts'\nvoid createApi",
  ],
  cli: ['src-main/cli/planted.ts', "import '../engine/create-engine.ts'"],
  places: ['src-main/places/planted.ts', "import '../core/event-feed.ts'"],
  runner: ['src-main/runner/planted.ts', "import '../core/event-feed.ts'"],
  service: ['src-main/service/planted.ts', "import '../store/create-store.ts'"],
  compose: ['src-main/compose.ts', "import './desktop/trusted-sender.ts'"],
  'compose-without-electron': ['src-main/headless.ts', "import './desktop/app-protocol.ts'"],
  'entries-are-leaves': ['src-main/service/planted-entry.ts', "import '../headless.ts'"],
  'renderer-without-main': ['src-renderer/stores/planted-main.ts', "import '../../src-main/platform/config/paths.ts'"],
  'renderer-api': ['src-renderer/api/planted.ts', "import '../stores/planted.ts'"],
  'renderer-stores': ['src-renderer/stores/planted.ts', "import '../features/board/BoardScreen.vue'"],
  'renderer-components': [
    'src-renderer/components/Planted.vue',
    '<script setup lang="ts">\nimport \'../stores/planted.ts\'\n</script>',
  ],
  'renderer-composables': ['src-renderer/composables/planted.ts', "import '../components/AppButton.vue'"],
  'renderer-plain': ['src-renderer/model/planted.ts', "import '../stores/base/client.ts'"],
  'renderer-features-apart': ['src-renderer/features/planted/planted.ts', "import '../board/BoardScreen.vue'"],
  'renderer-features': ['src-renderer/features/planted/planted-api.ts', "import '../../api/client.ts'"],
  'owner-sqlite': ['src-main/engine/planted-sqlite.ts', "import 'better-sqlite3'"],
  'owner-fastify': ['src-main/api/planted-fastify.ts', "import 'fastify'"],
  'owner-containment': ['src-main/agents/planted-box.ts', "import '@anthropic-ai/sandbox-runtime'"],
  'owner-grammars': ['src-main/server/planted-grammars.ts', "import 'web-tree-sitter'"],
  'owner-pty': ['src-main/hooks/planted-pty.ts', "import 'node-pty'"],
  'owner-git': ['src-main/hooks/planted-git.ts', "import 'simple-git'"],
  'owner-secrets': ['src-main/server/planted-secrets.ts', "import 'jose'"],
  'owner-log': ['src-main/hooks/planted-log.ts', "import 'pino'"],
  'owner-electron': ['src-main/server/planted-electron.ts', "import 'electron'"],
  'owner-commander': ['src-main/service/planted-commander.ts', "import 'commander'"],
  'owner-vue': ['src-main/server/planted-vue.ts', "import 'vue'"],
  'owner-processes': ['src-main/server/planted-processes.ts', "import 'node:child_process'"],
  'no-node-in-pure-folders': ['src-main/domain/planted-node.ts', "import 'node:fs'"],
  'no-circular': [
    'src-main/platform/planted-circle.ts',
    "import { planted } from './planted-circle.ts'\nexport { planted }",
  ],
  'not-to-test': ['src-main/platform/planted-test.ts', "import '../../test/planted.ts'"],
  'not-to-unresolvable': ['src-main/platform/planted-missing.ts', "import './nowhere.ts'"],
  'main-from-dependencies': ['src-main/platform/planted-dev.ts', "import 'fast-check'"],
}

test('catches a violation of each import rule and says what to do instead', async () => {
  expect(Object.keys(planted).sort()).toEqual(config.forbidden.map((rule) => rule.name).sort())
  expect(config.forbidden.filter((rule) => rule.comment.length < 20)).toEqual([])

  await using copy = await copyProject()
  await copy.plant('test/planted.ts', 'export {}')
  for (const [file, line] of Object.values(planted)) await copy.plant(file, `${line}\n`)
  const report = await checkBoundaries(copy.root)
  const caught = (rule: string, file: string) =>
    report.violations.some((violation) => violation.rule === rule && violation.text.startsWith(`${file} `))
  expect(Object.entries(planted).filter(([rule, [file]]) => !caught(rule, file))).toEqual([])
})

test('checks all sources, which break no rule', async () => {
  const { modules, violations } = await checkBoundaries(projectRoot)
  expect(violations.map(({ text }) => text)).toEqual([])
  expect(modules).toBeGreaterThan(100)
})

test('has a rule for every folder of the main process', async () => {
  const entries = await readdir(join(projectRoot, 'src-main'), { withFileTypes: true })
  const folders = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  const ruled = new Set(config.forbidden.map((rule) => rule.name))
  expect(folders.filter((folder) => !ruled.has(folder))).toEqual([])
})
