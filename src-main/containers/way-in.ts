import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { quoted } from '../platform/process/process-shell.ts'
import type { SocatCopy } from './socat-copy.ts'

/** A way to what listens in a container. */
interface WayIn {
  /** Each connection begins with a line that has the address, as socat has it. */
  readonly socket: string
  /** Lines of the container's first program. */
  readonly script: string
}

/** Makes a socket in a run's folder that leads into its container, whatever network that has. */
export async function openWayIn(folder: string, { command }: SocatCopy): Promise<WayIn> {
  const [socket, lead] = [join(folder, 'in.sock'), join(folder, 'lead')]
  // Each way of a connection ends on its own, however long the other one takes.
  await writeFile(lead, `read -r address && exec ${quoted([...command, '-t', '86400', '-'])} "$address"\n`, {
    mode: 0o600,
  })
  const listen = quoted([...command, `UNIX-LISTEN:${socket},fork,mode=600`, `EXEC:/bin/sh ${lead}`])
  return { socket, script: `${listen} >/dev/null 2>&1 &\nlisteners="$listeners $!"\n` }
}
