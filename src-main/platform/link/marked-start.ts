import type { Duplex, Readable, Writable } from 'node:stream'
import { Carrier, readUntil } from './carrier.ts'

/** What a program writes before it begins a link: shells print greetings of their own to the same output. */
export const linkMark = (version: number): string => `\ncopse-link ${version}\n`

/** The other end did not begin a link; the message has the last lines of what it wrote instead. */
export class NoLink extends Error {
  override readonly name = 'NoLink'
}

const maxGreeting = 64 * 1024

/** What the runner says once it has heard the service's first line, and before it begins the link. */
export const linkAnswer = 'copse-linked\n'

/**
 * Begins a link with a program that says the mark: tells it `hello`, and resolves with what carries the link. Rejects
 * with `NoLink` if the program ends before, or says more than 64 KB without it.
 */
export async function startCarrier(output: Readable, input: Writable, mark: string, hello: string): Promise<Duplex> {
  await expectText(output, mark)
  input.write(`${hello}\n`)
  return new Carrier(output, input, await expectText(output, linkAnswer))
}

/** Resolves with what was read after the text. */
async function expectText(output: Readable, text: string): Promise<Buffer> {
  const { heard, said } = await readUntil(output, text, maxGreeting)
  if (heard === null) throw new NoLink(lastLines(said))
  return heard.rest
}

const lastLines = (text: Buffer): string =>
  text.subarray(-2_000).toString('utf8').trim().split('\n').slice(-5).join('\n')
