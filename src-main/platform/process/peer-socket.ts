import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { isIPv4, isIPv6, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { isLoopbackHost } from '../config/loopback.ts'
import { createTimeSlices } from './time-slices.ts'

/** Both ends of an accepted connection. */
export type Accepted = Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress' | 'localPort'>

/** The socket at the other end of a connection within this machine. */
export interface PeerSocket {
  readonly uid: number
  readonly inode: string
}

/** A connection in the kernel's table, or a socket that listens. */
export interface SocketRow extends PeerSocket {
  /** The socket's own end, then the other one, as the kernel writes them. */
  readonly ends: readonly [own: string, other: string]
  readonly listens: boolean
}

const tablePaths = { IPv4: '/proc/net/tcp', IPv6: '/proc/net/tcp6' } as const

/** Returns whether this system tells which program a connection comes from: only Linux does. */
export const canTellPeers = (): boolean => process.platform === 'linux' && existsSync(tablePaths.IPv4)

/**
 * Returns the peer of a connection; null if it isn't on this machine, or this system can't tell; `gone` if it is, but
 * has closed the connection.
 */
export async function findPeerSocket(accepted: Accepted): Promise<PeerSocket | 'gone' | null> {
  const { remoteAddress, localAddress } = accepted
  if (!canTellPeers() || !isFromThisMachine(accepted)) return null
  if (remoteAddress === undefined || localAddress === undefined) return 'gone'
  // The table may move while it is read, so that a row is missed.
  for (let tries = 0; tries < 3; tries++) {
    const row = await findRow(accepted)
    // A closed socket has no owner any more.
    if (row !== null) return row.inode === '0' ? 'gone' : row
  }
  return 'gone'
}

/** Returns whether a connection may come from this machine; also true for a closed one, which doesn't tell. */
export function isFromThisMachine({ remoteAddress }: Accepted): boolean {
  if (remoteAddress === undefined || isLoopbackHost(remoteAddress)) return true
  const plain = remoteAddress.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')
  return Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === plain) === true)
}

/** Returns all connections of the network that this process is in, or that another one is in. */
export async function readSocketRows(pid?: number): Promise<readonly SocketRow[]> {
  const paths = Object.values(tablePaths)
  const own = pid === undefined ? paths : paths.map((path) => path.replace('/proc/', `/proc/${pid}/`))
  const tables = await Promise.all(own.map(readTable))
  return tables.flatMap((table) => table.split('\n').slice(1).flatMap(rowOf))
}

const readTable = (path: string): Promise<string> => readFile(path, 'latin1').catch(() => '')

async function findRow(accepted: Accepted): Promise<SocketRow | null> {
  const { remoteAddress = '', remotePort = 0, localAddress = '', localPort = 0 } = accepted
  const ours = inTable(localAddress, localPort)
  for (const [index, { table, end }] of inTable(remoteAddress, remotePort).entries()) {
    const line = await findLine(table, `: ${end} ${ours[index]?.end} `)
    const [row] = line === null ? [] : rowOf(line)
    if (row !== undefined) return row
  }
  return null
}

const chunkBytes = 64 * 1024

/** Returns the first line with this text. Reads no further, because the kernel writes a table as it is read. */
async function findLine(path: string, text: string): Promise<string | null> {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch {
    return null
  }
  try {
    const chunk = Buffer.allocUnsafe(chunkBytes)
    const letOthers = createTimeSlices()
    let rest = ''
    for (let size = readSync(file, chunk); size > 0; size = readSync(file, chunk)) {
      const lines = (rest + chunk.toString('latin1', 0, size)).split('\n')
      rest = lines.pop() ?? ''
      const line = lines.find((one) => one.includes(text))
      if (line !== undefined) return line
      await letOthers()
    }
    return null
  } finally {
    closeSync(file)
  }
}

function rowOf(line: string): SocketRow[] {
  const [, own, other, state, , , , uid, , inode] = line.trim().split(/\s+/)
  return own === undefined || other === undefined || inode === undefined
    ? []
    : [{ ends: [own, other], uid: Number(uid), inode, listens: state === '0A' }]
}

const littleEndian = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1

interface End {
  readonly table: string
  /** As the kernel writes it, such as `0100007F:A20B`. */
  readonly end: string
}

/**
 * Returns how the kernel writes an end: groups of four bytes, each in the machine's byte order. An IPv4 address may
 * also stand in the table of IPv6.
 */
export function inTable(address: string, port: number): readonly End[] {
  const hex = port.toString(16).toUpperCase().padStart(4, '0')
  return bytesOf(address).map((bytes) => {
    if (littleEndian) bytes.swap32()
    const table = bytes.length === 4 ? tablePaths.IPv4 : tablePaths.IPv6
    return { table, end: `${bytes.toString('hex').toUpperCase()}:${hex}` }
  })
}

const mappedPrefix = Buffer.from('00000000000000000000ffff', 'hex')

function bytesOf(address: string): readonly Buffer[] {
  const short = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')
  if (isIPv4(short)) {
    const bytes = Buffer.from(short.split('.').map(Number))
    return [Buffer.from(bytes), Buffer.concat([mappedPrefix, bytes])]
  }
  if (!isIPv6(short)) return []
  const [head = [], tail = []] = short.split('::').map((half) => (half === '' ? [] : half.split(':')))
  const gap = Array<string>(Math.max(0, 8 - head.length - tail.length)).fill('0')
  return [Buffer.from([...head, ...gap, ...tail].map((group) => group.padStart(4, '0')).join(''), 'hex')]
}
