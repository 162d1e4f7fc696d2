import { expect, test } from 'vitest'
import { commentsText, contextText } from '../../../../src-main/executions/rules/context-text.ts'

const task = (title: string, more: { description?: string; summary?: string } = {}) => ({
  title,
  status: 'done',
  description: more.description ?? null,
  summary: more.summary ?? null,
})
const comment = (name: string, body: string) => ({ author: { name }, body })

test('says what a task belongs to, and the last message of those before it', () => {
  expect(contextText(null, [])).toBeNull()
  const text = contextText(task('Shop', { description: 'Sell\n\nthings.' }), [
    task('Cart', { summary: 'The cart is in cart.ts.' }),
    task('Prices'),
  ])
  expect(text).toContain('“Shop”')
  expect(text).toContain('> Sell\n>\n> things.')
  expect(text).toContain('- “Cart” (done). Its last words:\n\n> The cart is in cart.ts.')
  expect(text).toMatch(/- “Prices” \(done\)$/)
})

test('cuts long texts', () => {
  const text = contextText(task('Shop', { description: 'x'.repeat(9_000) }), [
    task('Cart', { summary: 'y'.repeat(900) }),
  ])
  expect(text?.length).toBeLessThan(3_000)
})

test('lists comments in order, and of too many the newest', () => {
  expect(commentsText([])).toBeNull()
  expect(commentsText([comment('Ann', 'First\nline'), comment('Bob', 'Second')])).toBe(
    'Ann wrote:\n\n> First\n> line\n\nBob wrote:\n\n> Second',
  )
  const many = commentsText([comment('Ann', 'old'), comment('Bob', 'x'.repeat(7_990)), comment('Cy', 'newest')])
  expect(many).toMatch(/newest$/)
  expect(many).not.toContain('old')
  expect(many?.length).toBeLessThan(8_300)
})
