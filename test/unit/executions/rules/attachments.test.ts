import { expect, test } from 'vitest'
import {
  attachmentFileNames,
  attachmentName,
  attachmentsText,
  placeAttachments,
} from '../../../../src-main/executions/rules/attachments.ts'
import { attachmentMarkdown, attachmentsNamedIn } from '../../../../src-shared/contract/attachment-text.ts'
import type { AttachmentId } from '../../../../src-shared/contract/ids.ts'

const ids = [1, 2, 3, 4].map((n) => `0197f000-0000-7000-8000-00000000000${n}` as AttachmentId)
const [first, second, third, fourth] = ids as [AttachmentId, AttachmentId, AttachmentId, AttachmentId]

test('takes the last part of a path as name, without characters that no file system takes', () => {
  expect(attachmentName('/home/me/Screen shot.png')).toBe('Screen shot.png')
  expect(attachmentName('..\\..\\con|fig?.txt')).toBe('config.txt')
  expect(attachmentName('../..')).toBe('file')
  expect(attachmentName('.env')).toBe('env')
  expect(attachmentName('a\u202egnp.exe\n')).toBe('agnp.exe')
  expect(attachmentName(`${'long '.repeat(60)}.log`)).toMatch(/^long .*\.log$/)
  expect(attachmentName(`${'x'.repeat(400)}.png`)).toHaveLength(120)
})

test('numbers files of the same name in a worktree', () => {
  const names = attachmentFileNames([
    { id: first, name: 'image.png' },
    { id: second, name: 'Image.png' },
    { id: third, name: 'a b.txt' },
    { id: fourth, name: 'gitignore' },
  ])
  expect([...names.values()]).toEqual(['image.png', 'Image-2.png', 'a-b.txt', 'gitignore'])
})

test('says in the prompt where each file is, and leaves files of other tasks alone', () => {
  const told = placeAttachments(
    [
      { kind: 'task', text: `See ![a](attachment:${first}) and [b](attachment:${second}).` },
      { kind: 'attachments', text: attachmentsText([{ id: first, media_type: 'image/png', size: 2_100 }]) ?? '' },
    ],
    [{ id: first, name: 'a 1.png' }],
  )
  expect(told.map(({ text }) => text)).toEqual([
    `See ![a](.copse/attachments/a-1.png) and [b](attachment:${second}).`,
    '- .copse/attachments/a-1.png (image/png, 2 KB)',
  ])
  expect(attachmentsText([])).toBeNull()
})

test('writes an image in place and other files as links, and reads them back', () => {
  const image = attachmentMarkdown({ id: first, name: 'a [1].png', media_type: 'image/png' })
  const file = attachmentMarkdown({ id: second, name: 'log.svg', media_type: 'text/plain' })
  expect(image).toBe(`![a \\[1\\].png](attachment:${first})`)
  expect(file).toBe(`[log.svg](attachment:${second})`)
  expect(attachmentsNamedIn(`${image} ${file} ${image}`)).toEqual([first, second])
  expect(attachmentsNamedIn(`attachment:${first}0 attachments:${first} attachment:x`)).toEqual([])
})
