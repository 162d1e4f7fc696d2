import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { projectRoot } from './project-copy.ts'

const files = execFileSync('git', ['ls-files', '-z'], { cwd: projectRoot, encoding: 'utf8' })
  .split('\0')
  .filter((file) => file !== '' && existsSync(join(projectRoot, file)))

const isCode = (file: string) => /\.(ts|vue|mjs|js)$/.test(file)

/** Assembled here, so that this file does not contain them itself. */
const words = {
  'work left undone': new RegExp(`\\b(${['TO' + 'DO', 'FIX' + 'ME', 'XX' + 'X', 'HA' + 'CK'].join('|')})\\b`),
  'a path that a clean clone does not have': new RegExp('/wo' + 'rk/'),
  'a test that hides others or itself': new RegExp(`\\b(test|it|describe)\\.(on${'ly'}|sk${'ip'}|to${'do'})\\b`),
  'an empty catch': new RegExp(`catch\\s*(\\([^)]*\\))?\\s*\\{${'\\s*'}\\}`),
}

test.each(Object.entries(words))('has no source with %s', (_name, pattern) => {
  const found = files
    .filter((file) => isCode(file) || /\.(md|json|ya?ml|css|html)$/.test(file))
    .filter((file) => file !== 'package-lock.json')
    .flatMap((file) =>
      readFileSync(join(projectRoot, file), 'utf8')
        .split('\n')
        .flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [])),
    )
  expect(found).toEqual([])
})

test('names files after their content: kebab-case, components in Pascal case, no barrels', () => {
  const sources = files.filter((file) => /^src-/.test(file) && isCode(file)).map((file) => basename(file))
  const wellNamed = /^([a-z0-9]+(-[a-z0-9]+)*(\.d)?\.ts|[A-Z][A-Za-z0-9]*\.vue)$/
  expect(sources.filter((name) => !wellNamed.test(name))).toEqual([])
  expect(sources.filter((name) => /^(index|utils?|helpers?|types|misc|common)\.ts$/.test(name))).toEqual([])
})
