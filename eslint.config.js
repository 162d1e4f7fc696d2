import vue from 'eslint-plugin-vue'
import ts from 'typescript-eslint'
import { maxOwnLines } from './scripts/lint/max-own-lines.js'
import { noValueInTemplate } from './scripts/lint/no-value-in-template.js'
import { noExecutorNames } from './scripts/lint/no-executor-names.js'
import { parser } from './scripts/lint/one-program.js'

const code = ['**/*.ts', '**/*.vue']
const tests = ['test/**', '**/*.test.ts']

/** Rules without types, also for the scripts that run before anything is installed. */
const everywhere = {
  'no-var': 'error',
  'prefer-const': 'error',
  eqeqeq: ['error', 'always', { null: 'ignore' }],
  'no-empty': 'error',
  'no-console': 'off',
  'no-debugger': 'error',
  'no-else-return': 'error',
  'no-throw-literal': 'error',
  'no-unused-expressions': 'error',
  'max-lines': ['warn', { max: 400 }],
  'copse/max-own-lines': ['warn', { max: 80 }],
}

const typed = {
  '@typescript-eslint/no-explicit-any': 'error',
  '@typescript-eslint/no-non-null-assertion': 'error',
  '@typescript-eslint/no-floating-promises': 'error',
  '@typescript-eslint/no-misused-promises': 'error',
  '@typescript-eslint/await-thenable': 'error',
  '@typescript-eslint/consistent-type-imports': 'error',
  '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
  '@typescript-eslint/only-throw-error': ['error', { allowThrowingUnknown: true }],
  '@typescript-eslint/prefer-promise-reject-errors': 'error',
  '@typescript-eslint/no-unused-expressions': 'error',
  '@typescript-eslint/no-unused-vars': [
    'error',
    { args: 'after-used', argsIgnorePattern: '^_', varsIgnorePattern: '^_$', ignoreRestSiblings: true },
  ],
  '@typescript-eslint/ban-ts-comment': 'error',
  'no-throw-literal': 'off',
  'no-unused-expressions': 'off',
  'no-restricted-syntax': [
    'error',
    { selector: 'ExportAllDeclaration', message: 'No barrels: import the name from the file that has it.' },
    { selector: 'ExportDefaultDeclaration', message: 'Named exports only.' },
    {
      selector: 'ObjectExpression > SpreadElement > ObjectExpression',
      message: 'Write the fields themselves: a literal spread into another only hides them.',
    },
  ],
}

/** Same arguments, same answer: the engine hands `now` and ids in. */
const deterministic = {
  'no-restricted-globals': ['error', 'performance', 'crypto', 'setTimeout', 'setInterval', 'process', 'fetch'],
  'no-restricted-properties': [
    'error',
    { object: 'Date', property: 'now', message: 'Take the time as an argument.' },
    { object: 'Math', property: 'random', message: 'Take ids and random numbers as arguments.' },
  ],
  'no-restricted-syntax': [
    'error',
    ...typed['no-restricted-syntax'].slice(1),
    { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: 'Take the time as an argument.' },
    { selector: 'AwaitExpression', message: 'The domain is synchronous: gather facts in the engine.' },
    { selector: ':function[async=true]', message: 'The domain is synchronous: gather facts in the engine.' },
  ],
}

export default [
  {
    ignores: [
      'dist/**',
      'node_modules/**',
      '.tools/**',
      'test-results/**',
      'src-main/store/migrations/**',
      'test/fixtures/**',
    ],
  },
  {
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    plugins: {
      copse: {
        rules: {
          'max-own-lines': maxOwnLines,
          'no-value-in-template': noValueInTemplate,
          'no-executor-names': noExecutorNames,
        },
      },
    },
  },
  { files: ['**/*.js', '**/*.mjs', ...code], rules: everywhere },
  { plugins: ts.configs.base.plugins, files: code },
  { files: ['**/*.ts'], languageOptions: { parser } },
  ...vue.configs['flat/essential'].map((config) => ({ ...config, files: ['**/*.vue'] })),
  {
    files: code,
    languageOptions: {
      parserOptions: { parser, projectService: true, extraFileExtensions: ['.vue'] },
    },
    rules: typed,
  },
  {
    files: ['**/*.vue'],
    rules: {
      'max-lines': ['error', { max: 200 }],
      'vue/block-lang': ['error', { script: { lang: 'ts' } }],
      'vue/component-api-style': ['error', ['script-setup']],
      'vue/no-v-html': 'error',
      'copse/no-value-in-template': 'error',
    },
  },
  {
    files: ['src-main/**', 'src-shared/**', 'src-renderer/**'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          paths: [
            { name: 'fs', message: 'Write node:fs.' },
            { name: 'path', message: 'Write node:path.' },
            { name: 'child_process', message: 'Write node:child_process.' },
            { name: 'vue-router', message: 'Views are picked by the hash: see src-renderer/stores.' },
          ],
          patterns: [{ group: ['**/test/**'], message: 'The program does not know its tests.' }],
        },
      ],
    },
  },
  { files: ['src-main/domain/**'], rules: deterministic },
  {
    files: ['src-main/**', 'src-shared/**', 'src-renderer/**'],
    // An agent's folder, and the record that clients know of it.
    ignores: ['src-main/agents/**', 'src-shared/contract/executor-profiles.ts'],
    rules: { 'copse/no-executor-names': 'error' },
  },
  {
    files: tests,
    rules: { 'copse/max-own-lines': 'off', 'no-restricted-syntax': 'off' },
  },
  // Tools ask these files for a default export.
  { files: ['*.config.ts', '**/*.d.ts'], rules: { 'no-restricted-syntax': 'off' } },
]
