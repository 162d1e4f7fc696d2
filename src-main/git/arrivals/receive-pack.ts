import { setTimeout as delay } from 'node:timers/promises'
import type { JobGrant } from '../../ports/job-access.ts'
import type { Git } from '../commands/run-git.ts'
import { acceptRefs, refuseRef, type RefAnswers } from './accept-refs.ts'
import { isVisible, readRefs } from './arrivals-folder.ts'
import { discard, PushRefusedError, takeIn } from './incoming-pack.ts'
import { flush, onBand, oneLine, pktLine } from '../commands/pkt-lines.ts'
import { readPush, type PushCommand, type PushRequest } from './push-request.ts'

export interface Receiver {
  readonly git: Git
  readonly folder: string
  readonly branch: string
  readonly grant: JobGrant
  /** One push of a task at a time moves refs. */
  readonly inTurn: (work: () => Promise<RefAnswers>) => Promise<RefAnswers>
}

/**
 * `no-thin`: a pack is never written as differences to objects that it doesn't contain, which would give the content of
 * any object to the one who knows its ID.
 */
const capabilities = 'report-status delete-refs side-band-64k ofs-delta no-thin'

/** Returns the refs whose objects a push may leave out, and what may be said in a push. */
export async function advertisePush(
  { git, branch }: Pick<Receiver, 'git' | 'branch'>,
  format: string,
): Promise<Buffer> {
  const refs = [...(await readRefs(git))].filter(([ref]) => isVisible(branch, ref))
  const can = `${capabilities} object-format=${format} agent=copse`
  const lines = refs.map(([ref, id], index) => pktLine(`${id} ${ref}${index === 0 ? `\0${can}` : ''}\n`))
  return Buffer.concat([...lines, flush])
}

/** How often a client that waits hears that its push is worked on. */
const keepAliveMs = 5_000
const keepAlive = Buffer.from('0005\u0001')

/** Takes a push in and answers as git does. */
export async function* receivePack(receiver: Receiver, body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let isReceived = false
  const watched = async function* (): AsyncGenerator<Uint8Array> {
    yield* body
    isReceived = true
  }
  const push = await readPush(watched())
  // Git looks so whether it is let in, before it sends a large pack.
  if (push.commands.length === 0) return
  const isBanded = push.capabilities.has('side-band-64k')
  const work = takePush(receiver, push)
  try {
    for (;;) {
      const pause = new AbortController()
      const isDone = await Promise.race([
        work.then(() => true),
        delay(keepAliveMs, false, { signal: pause.signal }).catch(() => false),
      ]).finally(() => pause.abort())
      if (isDone) break
      if (isBanded && isReceived) yield keepAlive
    }
    const report = reportOf(push.commands, await work)
    if (!push.capabilities.has('report-status')) return
    yield isBanded ? Buffer.concat([onBand(1, report), flush]) : report
  } finally {
    await work.catch(() => undefined)
  }
}

interface PushOutcome {
  /** null: the pack is taken; else why nothing of the push is. */
  readonly refusal: string | null
  readonly answers: RefAnswers
}

async function takePush(receiver: Receiver, push: PushRequest): Promise<PushOutcome> {
  const { git, folder, branch, grant, inTurn } = receiver
  const answers: RefAnswers = new Map()
  const names = new Set<string>()
  for (const command of push.commands) {
    const sentence = refuseRef(command, branch, grant, names)
    if (sentence !== null) answers.set(command, sentence)
    names.add(command.ref)
  }
  const allowed = push.commands.filter((command) => !answers.has(command))
  try {
    if (push.isShallow) await refuseShallow(push)
    if (allowed.length === 0) {
      await discard(push.pack)
      return { refusal: null, answers }
    }
    const needsPack = push.commands.some(({ to }) => to !== null)
    await using pack = needsPack ? await takeIn({ git, folder, branch, grant }, push.pack) : null
    const accepted = await inTurn(() => acceptRefs({ git, folder, branch, grant }, allowed, pack))
    for (const [command, answer] of accepted) answers.set(command, answer)
    return { refusal: null, answers }
  } catch (error) {
    if (!(error instanceof PushRefusedError)) throw error
    for (const command of allowed) answers.set(command, error.message)
    return { refusal: error.message, answers }
  }
}

async function refuseShallow(push: PushRequest): Promise<never> {
  await discard(push.pack)
  throw new PushRefusedError(
    'The clone is shallow: its history ends early. Run git fetch --unshallow, then push again.',
  )
}

function reportOf(commands: readonly PushCommand[], { refusal, answers }: PushOutcome): Buffer {
  const lines = commands.map((command) => {
    const answer = answers.get(command) ?? null
    return pktLine(answer === null ? `ok ${command.ref}\n` : `ng ${command.ref} ${oneLine(answer)}\n`)
  })
  return Buffer.concat([pktLine(`unpack ${refusal === null ? 'ok' : oneLine(refusal)}\n`), ...lines, flush])
}
