import { isTestFile } from '../file-kinds.ts'
import { addedLines, removedLines, riskOfFile, type AddedLine, type RiskRule } from './risk.ts'

const testCase =
  /^\s*(?:(?:it|test)(?:\.\w+)*\s*[(`]|def test_\w*\s*\(|(?:async )?def test_|func (?:\([^)]*\) )?Test\w*\s*\(|@(?:Test|ParameterizedTest)\b|\[(?:Test|Fact|Theory|TestMethod)\b|#\[(?:\w+::)?test\]|(?:public )?function test\w*\s*\()/
const skipped =
  /\b(?:it|test|describe|context|suite)\.(?:skip|todo|fixme)\b|\b(?:xit|xtest|xdescribe)\s*\(|@pytest\.mark\.(?:skip|xfail)|@unittest\.skip|\bpytest\.skip\(|\bt\.Skip(?:f|Now)?\(|#\[ignore\b|@(?:Disabled|Ignore)\b|\[Ignore\b|\bSkip\s*=\s*"|->markTestSkipped\(|\bself\.skipTest\(/
const only = /\b(?:it|test|describe|context|suite)\.only\b|\b(?:fit|fdescribe)\s*\(/
const assertion = /\b(?:expect(?:\.\w+)?\(|assert\w*[\s.(!]|should\.|verify\(|require\.\w+\(t\b|t\.(?:Error|Fatal)f?\()/
const alwaysTrue =
  /\bexpect\((?:true|1)\)\.(?:toBe|toEqual)\((?:true|1)\)|\bassert\s+True\s*(?:#|$)|\bassertTrue\((?:true|True)\)|\bassert\.ok\(true\)/

const count = (lines: readonly AddedLine[], pattern: RegExp): number =>
  lines.filter(({ text }) => pattern.test(text)).length

/** Tests that are gone. A test with another name counts as the same. */
export const testsRemoved: RiskRule = (file) => {
  if (!isTestFile(file.old_path ?? file.path)) return []
  const removed = removedLines(file).filter(({ text }) => testCase.test(text))
  const lost = removed.length - count(addedLines(file), testCase)
  const [first] = removed
  if (lost <= 0 || !first) return []
  const tests = lost === 1 ? '1 test is gone' : `${lost} tests are gone`
  if (file.status === 'deleted') return riskOfFile(file, 'high', `The file with tests is deleted: ${tests}.`)
  return [{ level: 'high', text: `${tests}.`, line: first.line, hunk: first.hunk }]
}

/** Tests that don't run any longer. */
export const testsSkipped: RiskRule = (file) => {
  if (!isTestFile(file.path)) return []
  const before = removedLines(file)
  const find = (pattern: RegExp, text: string) => {
    const found = addedLines(file).filter((line) => pattern.test(line.text))
    // A line that was skipped before and is only edited skips nothing more.
    return found.length <= count(before, pattern)
      ? []
      : found.map(({ line, hunk }) => ({ level: 'high' as const, text, line, hunk }))
  }
  return [...find(skipped, 'A test is skipped.'), ...find(only, 'All tests but this one are left out.')]
}

/** Tests that ask less than before. */
export const assertions: RiskRule = (file) => {
  if (!isTestFile(file.path) || file.status === 'deleted') return []
  const added = addedLines(file)
  const empty = added
    .filter(({ text }) => alwaysTrue.test(text))
    .map(({ line, hunk }) => ({ level: 'high' as const, text: 'The assertion is always true.', line, hunk }))
  const removed = removedLines(file).filter(({ text }) => assertion.test(text))
  const [first] = removed
  const lost = removed.length - count(added, assertion)
  const isTestLost = count(removedLines(file), testCase) > count(added, testCase)
  if (lost <= 0 || !first || isTestLost) return empty
  const text = lost === 1 ? '1 assertion less than before.' : `${lost} assertions less than before.`
  return [...empty, { level: 'low', text, line: first.line, hunk: first.hunk }]
}

const suppression =
  /@ts-(?:ignore|nocheck|expect-error)\b|\beslint-disable\b|\boxlint-disable\b|\bbiome-ignore\b|#\s*noqa\b|#\s*type:\s*ignore\b|#\s*nosec\b|\/\/\s*nolint\b|#\[allow\(|@SuppressWarnings\b|#pragma warning disable|\bNOSONAR\b|#\s*rubocop:disable|\bshellcheck disable=|\bpylint:\s*disable/
const checkFile =
  /(?:^|\/)(?:\.(?:es|ox)lintrc[\w.-]*|(?:es|ox)lint\.config\.\w+|biome\.jsonc?|tsconfig[\w.-]*\.json|\.?(?:vitest|jest)\.config\.\w+|\.golangci\.ya?ml|\.flake8|mypy\.ini|ruff\.toml|\.pylintrc|\.rubocop\.yml|clippy\.toml|codecov\.yml|sonar-project\.properties|\.pre-commit-config\.yaml|\.husky\/[^/]+|lefthook\.ya?ml)$/

/** Checks that are told to look away. */
export const checks: RiskRule = (file) => {
  if (checkFile.test(file.path) && file.status !== 'added')
    return file.hunks.map((hunk) => ({
      level: 'low',
      text: 'It changes what is checked.',
      line: hunk.new[1] > 0 ? hunk.new[0] : null,
      hunk,
    }))
  const found = addedLines(file).filter(({ text }) => suppression.test(text))
  if (found.length <= count(removedLines(file), suppression)) return []
  return found.map(({ line, hunk }) => ({ level: 'low', text: 'A check is told to leave this out.', line, hunk }))
}
