import { ESLint } from 'eslint'
import { execFile } from 'node:child_process'
import { join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { executorProfiles } from '../../src-shared/contract/executor-profiles.ts'
import { copySettings } from './project-copy.ts'

const long = (lines: number) => Array.from({ length: lines }, (_, i) => `export const line${i} = ${i}`).join('\n')
const template = (inner: string) =>
  `<script setup lang="ts">\nimport { useFound } from './use-found.ts'\nconst found = useFound()\n</script>\n<template>${inner}</template>`
const vue = (code: string, template = 'x') =>
  `<script setup lang="ts">\n${code}\n</script>\n<template><p>${template}</p></template>`
const agent = "type Executor = 'codex' | 'acp' | 'command' | 'external'"

/** One offence per rule: rule, file, code. */
const planted: readonly (readonly [rule: string, file: string, code: string])[] = [
  ['@typescript-eslint/no-floating-promises', 'src-main/platform/a.ts', 'Promise.resolve(1)'],
  ['@typescript-eslint/no-floating-promises', 'src-renderer/components/A.vue', vue('Promise.resolve(1)')],
  [
    '@typescript-eslint/no-misused-promises',
    'src-main/platform/b.ts',
    '[1].forEach(async () => { await Promise.resolve() })',
  ],
  [
    '@typescript-eslint/consistent-type-imports',
    'src-main/platform/c.ts',
    "import { Refusal } from '../../src-shared/contract/errors.ts'\nexport const c = (r: Refusal) => r.code",
  ],
  [
    '@typescript-eslint/switch-exhaustiveness-check',
    'src-main/platform/d.ts',
    "export function d(x: 'a' | 'b') { switch (x) { case 'a': return 1 } return 2 }",
  ],
  ['@typescript-eslint/no-explicit-any', 'src-main/platform/e.ts', 'export const e = (x: any): unknown => x'],
  [
    '@typescript-eslint/no-non-null-assertion',
    'src-main/platform/f.ts',
    'export const f = (x: string | null) => x!.length',
  ],
  ['@typescript-eslint/ban-ts-comment', 'src-main/platform/g.ts', '// @ts-ignore\nexport const g = 1'],
  ['no-empty', 'src-main/platform/h.ts', `try { JSON.parse('') } catch ${'{}'}`],
  ['copse/restricted-syntax', 'src-main/platform/i.ts', "export * from './paths.ts'"],
  ['copse/restricted-syntax', 'src-main/platform/j.ts', 'export default 1'],
  ['copse/restricted-syntax', 'src-main/platform/spread.ts', 'export const spread = { ...{ a: 1 }, b: 2 }'],
  ['copse/restricted-syntax', 'test/unit/mock.test.ts', "import { vi } from 'vitest'\nvi.mock('./a.ts')"],
  [
    'no-restricted-imports',
    'src-main/platform/k.ts',
    "import { readFileSync } from 'fs'\nexport const k = readFileSync",
  ],
  ['max-lines', 'src-main/platform/l.ts', long(401)],
  ['max-lines', 'src-renderer/components/M.vue', vue(Array.from({ length: 200 }, (_, i) => `void ${i}`).join('\n'))],
  [
    'copse/max-own-lines',
    'src-main/platform/n.ts',
    `export function n() {\n${Array.from({ length: 80 }, (_, i) => `void ${i}`).join('\n')}\n}`,
  ],
  ['no-restricted-properties', 'src-main/domain/o.ts', 'export const o = () => Date.now()'],
  ['no-restricted-properties', 'src-main/domain/p.ts', 'export const p = () => Math.random()'],
  ['copse/restricted-syntax', 'src-main/domain/q.ts', 'export const q = () => new Date()'],
  ['copse/restricted-syntax', 'src-main/domain/r.ts', 'export const r = async () => { await Promise.resolve() }'],
  ['no-restricted-globals', 'src-main/domain/s.ts', 'export const s = () => crypto.randomUUID()'],
  ['no-restricted-properties', 'src-main/landing/rules/t.ts', 'export const t = () => Date.now()'],
  [
    'vue/no-v-html',
    'src-renderer/components/T.vue',
    '<script setup lang="ts">\nconst t = "x"\n</script>\n<template><p v-html="t" /></template>',
  ],
  ['copse/no-value-in-template', 'src-renderer/components/U.vue', template('<p>{{ found.rows.value.length }}</p>')],
  ['copse/no-value-in-template', 'src-renderer/components/V.vue', template('<input v-model="found.rows.value" />')],
  ['copse/no-value-in-template', 'src-renderer/components/W.vue', template('<p :class="found.rows?.value" />')],
  [
    'copse/no-executor-names',
    'src-main/api/u.ts',
    `${agent}\nexport const u = (executor: Executor) => executor === 'external'`,
  ],
  ...executorProfiles.map((name): (typeof planted)[number] => [
    'copse/no-executor-names',
    `src-main/api/names-${name}.ts`,
    `export const isIt = (executor: string) => executor === '${name}'`,
  ]),
  [
    'copse/no-executor-names',
    'src-main/engine/v.ts',
    `${agent}\nexport const v = (one: { executor: Executor | 'person' }) => one.executor !== 'command'`,
  ],
  [
    'copse/no-executor-names',
    'src-main/api/w.ts',
    `${agent}\nexport const w: { executor: Executor } = { executor: 'acp' }`,
  ],
  [
    'copse/no-executor-names',
    'src-main/api/x.ts',
    `${agent}\nexport function x(e: Executor) { switch (e) { case 'codex': return 1; default: return 2 } }`,
  ],
  [
    'copse/no-executor-names',
    'src-renderer/components/Y.vue',
    vue(`${agent}\nconst y = (e: Executor) => e\ny('codex')`),
  ],
  [
    'copse/no-executor-names',
    'src-renderer/components/Z.vue',
    vue("const draft = { executor: 'x' }", "{{ draft.executor === 'command' }}"),
  ],
]

/** Code that resembles an offence and is none. */
const innocent: readonly (readonly [file: string, code: string])[] = [
  ['src-renderer/components/AppX.vue', template('<p v-for="row in found.rows" :key="row.value">{{ row.value }}</p>')],
  ['src-renderer/components/AppY.vue', template('<input @input="found.take($event.target.value)" />')],
  ['src-renderer/components/AppZ.vue', template('<button @click="found.each((row) => row.value)" />')],
  // A string that is no agent type may equal one.
  ['src-main/api/harmless.ts', "export const free = (kind: 'command' | 'external') => kind === 'command'"],
]

test('catches an offence by each lint rule', async () => {
  await using copy = await copySettings()
  const all = [...planted.map(([, file, code]) => [file, code] as const), ...innocent]
  for (const [file, code] of all) await copy.plant(file, `${code}\n`)
  const files = all.map(([file]) => file)
  const found = new Map([
    ...(await lintVue(
      copy.root,
      files.filter((file) => file.endsWith('.vue')),
    )),
    ...(await lintTypeScript(
      copy.root,
      files.filter((file) => file.endsWith('.ts')),
    )),
  ])
  expect(planted.filter(([rule, file]) => !found.get(file)?.includes(rule))).toEqual([])
  expect(innocent.flatMap(([file]) => found.get(file) ?? [file])).toEqual([])
})

type RulesByFile = ReadonlyMap<string, readonly string[]>

async function lintVue(root: string, files: readonly string[]): Promise<RulesByFile> {
  const results = await new ESLint({ cwd: root }).lintFiles([...files])
  return new Map(
    results.map(({ filePath, messages }) => [relative(root, filePath), messages.map(({ ruleId }) => ruleId ?? '')]),
  )
}

/** Oxlint's own name of a rule of typescript-eslint is `typescript(rule)`. */
async function lintTypeScript(root: string, files: readonly string[]): Promise<RulesByFile> {
  const oxlint = join(root, 'node_modules', 'oxlint', 'bin', 'oxlint')
  // It ends with an error, since there are offences.
  const text = await new Promise<string>((resolve) => {
    execFile(process.execPath, [oxlint, '--format', 'json', ...files], { cwd: root }, (_error, out) => resolve(out))
  })
  const { diagnostics } = JSON.parse(text) as { diagnostics: { code: string; filename: string }[] }
  const ruleOf = (code: string) =>
    code.replace(/^(\w+)\((.+)\)$/, (_all, plugin: string, rule: string) =>
      plugin === 'eslint' ? rule : `${plugin === 'typescript' ? '@typescript-eslint' : plugin}/${rule}`,
    )
  return new Map(
    files.map((file) => [
      file,
      diagnostics.filter(({ filename }) => filename === file).map(({ code }) => ruleOf(code)),
    ]),
  )
}
