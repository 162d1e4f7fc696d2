import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { isIPv6, type Socket } from 'node:net'
import { treeVariable } from './process.ts'

/**
 * Returns whether the peer of a local connection is a process of the same user as this one, and neither a program
 * that this one started nor its descendant. null: unknown, because only Linux can tell.
 */
export function isPeerSameUser(socket: Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress' | 'localPort'>) {
  const table = readSockets()
  if (table === null) return null
  const { remoteAddress, remotePort, localAddress, localPort } = socket
  if (remoteAddress === undefined || localAddress === undefined) return false
  const ends = [`${plain(remoteAddress)} ${remotePort}`, `${plain(localAddress)} ${localPort}`].join(' ')
  const peer = table.find((row) => row.ends === ends)
  // A closed socket has no owner any more.
  if (peer === undefined || peer.inode === '0' || peer.uid !== process.getuid?.()) return false
  const holders = holdersOf(peer.inode)
  return holders.length > 0 && !holders.some(isOfOurRuns)
}

/** Returns whether this system can tell the owner of a connection. */
export function canTellPeers(): boolean {
  return readSockets() !== null
}

interface SocketRow {
  /** Both addresses and ports, the socket's own first. */
  readonly ends: string
  readonly uid: number
  readonly inode: string
}

function readSockets(): readonly SocketRow[] | null {
  if (process.platform !== 'linux') return null
  const texts = ['/proc/net/tcp', '/proc/net/tcp6'].map(textOf).filter((text) => text !== null)
  if (texts.length === 0) return null
  return texts.flatMap((text) =>
    text
      .split('\n')
      .slice(1)
      .flatMap((line) => {
        const [, local, remote, , , , , uid, , inode] = line.trim().split(/\s+/)
        if (local === undefined || remote === undefined || inode === undefined) return []
        return [{ ends: `${endOf(local)} ${endOf(remote)}`, uid: Number(uid), inode }]
      }),
  )
}

/** Converts `0100007F:A20B` to `127.0.0.1 41483`: groups of four bytes, each in the machine's byte order. */
function endOf(written: string): string {
  const [address = '', port = ''] = written.split(':')
  const bytes = Buffer.from(address, 'hex')
  if (littleEndian) bytes.swap32()
  return `${addressOf(bytes)} ${Number.parseInt(port, 16)}`
}

const littleEndian = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1

/** Formats an address so that each has one form: IPv6 in full, IPv4-mapped as IPv4. */
function addressOf(bytes: Buffer): string {
  const isMapped = bytes.length === 16 && bytes.subarray(0, 12).equals(mapped)
  if (bytes.length === 4 || isMapped) return [...bytes.subarray(-4)].join('.')
  return bytes.toString('hex')
}

const mapped = Buffer.from('00000000000000000000ffff', 'hex')

function plain(address: string): string {
  const short = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')
  if (!isIPv6(short)) return short
  const [head = [], tail = []] = short.split('::').map((half) => (half === '' ? [] : half.split(':')))
  const gap = Array<string>(Math.max(0, 8 - head.length - tail.length)).fill('0')
  return [...head, ...gap, ...tail].map((group) => group.padStart(4, '0').toLowerCase()).join('')
}

/** Returns the processes that have a socket open. One that can't be inspected is left out, so it is never let in. */
function holdersOf(inode: string): readonly number[] {
  const link = `socket:[${inode}]`
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => namesIn(`/proc/${pid}/fd`).some((fd) => linkOf(`/proc/${pid}/fd/${fd}`) === link))
    .map(Number)
}

/**
 * Returns whether a process or one of its ancestors was started by this one or carries the marker of one of its runs.
 */
function isOfOurRuns(pid: number): boolean {
  const ours = process.env[treeVariable]
  for (let next = pid, depth = 0; next > 1 && depth < 1_000; next = parentOf(next), depth++) {
    if (next === process.pid) return next !== pid
    const mark = markOf(next)
    // A service that a run started carries that run's marker itself, like all processes around it.
    if (mark !== undefined && mark !== ours) return true
  }
  return false
}

function markOf(pid: number): string | undefined {
  const start = `${treeVariable}=`
  const environment = (textOf(`/proc/${pid}/environ`) ?? '').split('\0')
  return environment.find((entry) => entry.startsWith(start))?.slice(start.length)
}

/**
 * Returns the parent's pid, or 0. The name in parentheses may contain spaces and parentheses, so fields count from
 * the last one.
 */
function parentOf(pid: number): number {
  const stat = textOf(`/proc/${pid}/stat`) ?? ''
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? 0)
}

const namesIn = (path: string): readonly string[] => orElse(() => readdirSync(path), [])
const linkOf = (path: string): string | null => orElse(() => readlinkSync(path), null)
const textOf = (path: string): string | null => orElse(() => readFileSync(path, 'utf8'), null)

/** Returns a fallback on errors: a process may end in between, or belong to another user. */
function orElse<T>(look: () => T, otherwise: T): T {
  try {
    return look()
  } catch {
    return otherwise
  }
}
