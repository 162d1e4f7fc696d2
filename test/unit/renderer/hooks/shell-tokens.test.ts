import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shellTokens } from '../../../../src-renderer/features/hooks/shell-tokens.ts'

const coloured = (script: string) =>
  shellTokens(script)
    .filter(({ kind }) => kind !== 'plain')
    .map(({ kind, text }) => `${kind} ${text}`)

test('the pieces put together are the script, whatever it is', () => {
  const text = fc.string({ unit: fc.constantFrom(...'\'"\\$#{}()\n\t ;if fi done éx🌳'), maxLength: 60 })
  fc.assert(
    fc.property(text, (script) => {
      expect(
        shellTokens(script)
          .map((token) => token.text)
          .join(''),
      ).toBe(script)
    }),
  )
})

test('words, texts, variables and comments have their colours', () => {
  expect(coloured('if [ "$a" = \'b\' ]; then exit 1; fi # why')).toEqual([
    'keyword if',
    'string "$a"',
    "string 'b'",
    'keyword then',
    'keyword exit',
    'keyword fi',
    'comment # why',
  ])
  expect(coloured('echo $HOME ${A:-b} $? $1')).toEqual([
    'variable $HOME',
    'variable ${A:-b}',
    'variable $?',
    'variable $1',
  ])
})

test('what only looks like them has none', () => {
  expect(coloured('git log --set in.txt ./if a#b case-x done=1')).toEqual([])
  expect(coloured('echo \\"no \\$no \\#no')).toEqual([])
})

test('a text that is still being typed is one to the end, and a comment ends with its line', () => {
  expect(coloured('echo "one\ntwo')).toEqual(['string "one\ntwo'])
  expect(coloured('#!/bin/sh\nnpm ci')).toEqual(['comment #!/bin/sh'])
})
