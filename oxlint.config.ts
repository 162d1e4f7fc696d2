import { defineConfig } from 'oxlint'
import { deterministic, everywhere, program, tests, typescript, untyped } from './scripts/lint/rules.js'

const sources = ['src-main/**', 'src-shared/**', 'src-renderer/**']

export default defineConfig({
  ignorePatterns: [
    '**/*.vue',
    'dist/**',
    '.tools/**',
    'test-results/**',
    'src-main/store/migrations/**',
    'test/fixtures/**',
  ],
  plugins: ['typescript'],
  jsPlugins: ['./scripts/lint/plugin.js'],
  categories: { correctness: 'off' },
  options: { typeAware: true, reportUnusedDisableDirectives: 'error' },
  rules: everywhere,
  overrides: [
    { files: ['**/*.js', '**/*.mjs'], rules: untyped },
    { files: ['**/*.ts'], rules: typescript },
    { files: ['test/**'], rules: tests },
    { files: sources, rules: program },
    { files: ['**/*.d.ts'], rules: { 'copse/restricted-syntax': 'off' } },
    {
      files: sources,
      // An agent's folder, the record that clients know of it, and how other clients than agents are set up.
      excludeFiles: [
        'src-main/agents/**',
        'src-shared/contract/executor-profiles.ts',
        'src-renderer/features/settings/app/client-config.ts',
      ],
      rules: { 'copse/no-executor-names': 'error' },
    },
    { files: ['src-main/domain/**', 'src-main/*/rules/**'], rules: deterministic },
  ],
})
