import vue from 'eslint-plugin-vue'
import ts from 'typescript-eslint'
import { parser } from './scripts/lint/one-program.js'
import plugin from './scripts/lint/plugin.js'
import { everywhere, program, typescript } from './scripts/lint/rules.js'

/** Vue's files; Oxlint reads all others, see oxlint.config.ts. */
export default [
  { ignores: ['**/*', '!**/', '!**/*.vue', 'dist/**', 'node_modules/**', '.tools/**'] },
  ...vue.configs['flat/essential'].map((config) => ({ ...config, files: ['**/*.vue'] })),
  {
    files: ['**/*.vue'],
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    plugins: { copse: plugin, ...ts.configs.base.plugins },
    languageOptions: { parserOptions: { parser, projectService: true, extraFileExtensions: ['.vue'] } },
    rules: {
      ...everywhere,
      ...typescript,
      ...program,
      'max-lines': ['error', { max: 200 }],
      'vue/block-lang': ['error', { script: { lang: 'ts' } }],
      'vue/component-api-style': ['error', ['script-setup']],
      'vue/no-v-html': 'error',
      'copse/no-value-in-template': 'error',
      'copse/no-executor-names': 'error',
    },
  },
]
