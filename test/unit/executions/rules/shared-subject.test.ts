import { expect, test } from 'vitest'
import { haveSharedSubject } from '../../../../src-main/executions/rules/shared-subject.ts'

test.each([
  ['names the same file', 'Fix src/parse.ts', '', 'Other work', 'It broke src/parse.ts', true],
  ['names the same short file', 'Mend it', 'See b.txt', 'Tidy', 'also write b.txt', true],
  ['shares a word of the title', 'Test the mailer', '', 'Set up the mailer', '', true],
  ['shares two words', 'Sign in', 'Rotate session tokens', 'Hash', 'Session tokens are stored hashed', true],
  ['shares a word in scripts without spaces', '修复登录页面', '', '登录页面的错误处理', '', true],
  ['shares nothing', 'Translate the menu', '', 'Write a file', 'also write b.txt', false],
  ['shares what every task has', 'Add a test', 'Write more code', 'Write tests', 'Change the code, add a file', false],
])('is about the same where it %s', (_how, title, text, otherTitle, otherText, expected) => {
  const [one, other] = [
    { title, text },
    { title: otherTitle, text: otherText },
  ]
  expect(haveSharedSubject(one, other)).toBe(expected)
  expect(haveSharedSubject(other, one)).toBe(expected)
})
