import { describe, expect, test } from 'vitest'
import type { Client } from '../../../../src-shared/client/create-client.ts'
import { ApiError } from '../../../../src-shared/contract/errors.ts'
import type { TranscriptItem } from '../../../../src-shared/contract/events.ts'
import {
  followTranscript,
  type TranscriptState,
} from '../../../../src-renderer/features/execution/transcript-stream.ts'

const line = (index: number): TranscriptItem => ({
  kind: 'entry',
  index,
  entry: { type: 'message', at: '2026-11-21T09:30:00.000Z', text: String(index) },
})

/** Answers each subscription with the next of `turns`; an error in a turn is thrown there. */
function clientOf(...turns: readonly (TranscriptItem | Error)[][]) {
  const afters: (number | null)[] = []
  const client: Pick<Client, 'transcript'> = {
    async *transcript(_input, after) {
      afters.push(after)
      for (const item of turns[afters.length - 1] ?? [{ kind: 'end' as const }]) {
        if (item instanceof Error) throw item
        yield item
      }
    },
  }
  return { client, afters }
}

async function follow(client: Pick<Client, 'transcript'>) {
  const texts: string[] = []
  const states: TranscriptState['kind'][] = []
  const waits: number[] = []
  await followTranscript(
    client,
    'x',
    {
      onEntry: (entry) => texts.push('text' in entry ? entry.text : entry.type),
      onState: (state) => states.push(state.kind),
    },
    new AbortController().signal,
    async (ms) => void waits.push(ms),
  )
  return { texts, states, waits }
}

describe('following a transcript', () => {
  test('continues after the last line when the connection is lost, and repeats none', async () => {
    const { client, afters } = clientOf(
      [line(0), line(1)],
      [line(1), line(2), new Error('reset')],
      [line(3), { kind: 'end' }],
    )
    expect((await follow(client)).texts).toEqual(['0', '1', '2', '3'])
    expect(afters).toEqual([null, 1, 2])
  })
  test('says when it reconnects and when it is back', async () => {
    const { client } = clientOf([line(0)], [line(1), { kind: 'end' }])
    expect((await follow(client)).states).toEqual(['connecting', 'live', 'reconnecting', 'live', 'ended'])
  })
  test('waits longer after every failed try', async () => {
    const { client } = clientOf([], [], [], [{ kind: 'end' }])
    expect((await follow(client)).waits).toEqual([500, 1_000, 2_000])
  })
  test('stops at a final answer', async () => {
    const { client, afters } = clientOf([new ApiError({ code: 'not_found', message: "This execution doesn't exist." })])
    expect((await follow(client)).states).toEqual(['connecting', 'refused'])
    expect(afters).toHaveLength(1)
  })
})
