import { z } from 'zod'
import { JobId } from './ids.ts'

/**
 * The purpose of the connection of a link by which a runner tells the ports of its jobs, and the service asks for
 * connections to them. Each line is one message, in JSON.
 */
export const portsConnection = 'ports'

/** No line is longer, in bytes. */
export const maxPortsLine = 64 * 1024

/** The number of ports that a runner tells of. */
export const maxTold = 500

const port = z.int().min(1).max(65_535)
const connection = z.uuid()

export const PortsMessage = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('listening'),
    network: z.string().max(200).nullable().describe('Ports of the service’s own network need no link.'),
    ports: z
      .array(z.object({ job: JobId, port }))
      .max(maxTold)
      .describe('All on which programs of jobs listen.'),
  }),
  z.object({ kind: z.literal('refused'), connection }),
])
export type PortsMessage = z.infer<typeof PortsMessage>

/** The connection that is asked for is a connection of the link whose purpose is its name. */
export const WantedConnection = z.object({ connection, job: JobId, port })
export type WantedConnection = z.infer<typeof WantedConnection>
