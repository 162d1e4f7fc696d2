// The rules of both linters, by the names that both know: Oxlint reads the TypeScript, ESLint the Vue files, whose
// templates Oxlint can't read.

/** What needs no types, also for the scripts that run before anything is installed. */
export const everywhere = {
  'no-var': 'error',
  'prefer-const': 'error',
  eqeqeq: ['error', 'always', { null: 'ignore' }],
  'no-empty': 'error',
  'no-debugger': 'error',
  'no-else-return': 'error',
  'no-unused-expressions': 'error',
  'max-lines': ['warn', { max: 400 }],
  'copse/max-own-lines': ['warn', { max: 80 }],
}

/** For JavaScript, where no types say what is thrown. */
export const untyped = { 'no-throw-literal': 'error' }

export const typescript = {
  '@typescript-eslint/no-explicit-any': 'error',
  '@typescript-eslint/no-non-null-assertion': 'error',
  '@typescript-eslint/no-floating-promises': 'error',
  '@typescript-eslint/no-misused-promises': 'error',
  '@typescript-eslint/await-thenable': 'error',
  '@typescript-eslint/consistent-type-imports': 'error',
  '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
  '@typescript-eslint/only-throw-error': ['error', { allowThrowingUnknown: true }],
  '@typescript-eslint/prefer-promise-reject-errors': 'error',
  '@typescript-eslint/no-unused-vars': [
    'error',
    { args: 'after-used', argsIgnorePattern: '^_', varsIgnorePattern: '^_$', ignoreRestSiblings: true },
  ],
  '@typescript-eslint/ban-ts-comment': 'error',
}

const spread = {
  selector: 'ObjectExpression > SpreadElement > ObjectExpression',
  message: 'Write the fields themselves: a literal spread into another only hides them.',
}
const defaultExport = { selector: 'ExportDefaultDeclaration', message: 'Named exports only.' }
const barrel = {
  selector: 'ExportAllDeclaration',
  message: 'No barrels: import the name from the file that has it.',
}

/** For the program itself; its tests may do as they need. */
export const program = {
  'copse/restricted-syntax': ['error', barrel, defaultExport, spread],
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
}

/** Tests share modules: what an earlier file has loaded is not replaced by a mock. */
export const tests = {
  'copse/max-own-lines': 'off',
  'copse/restricted-syntax': [
    'error',
    {
      selector: "CallExpression[callee.object.name='vi'][callee.property.name=/^(mock|doMock)$/]",
      message: 'Spy on the export: a file before this one may have loaded the module already.',
    },
  ],
}

/** Same arguments, same answer: the engine hands `now` and ids in. */
export const deterministic = {
  'no-restricted-globals': ['error', 'performance', 'crypto', 'setTimeout', 'setInterval', 'process', 'fetch'],
  'no-restricted-properties': [
    'error',
    { object: 'Date', property: 'now', message: 'Take the time as an argument.' },
    { object: 'Math', property: 'random', message: 'Take ids and random numbers as arguments.' },
  ],
  'copse/restricted-syntax': [
    'error',
    defaultExport,
    spread,
    { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: 'Take the time as an argument.' },
    { selector: 'AwaitExpression', message: 'The domain is synchronous: gather facts in the engine.' },
    { selector: ':function[async=true]', message: 'The domain is synchronous: gather facts in the engine.' },
  ],
}
