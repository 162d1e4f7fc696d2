import { createServer } from 'node:net'

/**
 * Returns `port` if it is free on `host`, else 0 (any free port): a window needs no known address. Throws for a host
 * that this machine does not have.
 */
export async function pickPort(host: string, port: number): Promise<number> {
  const server = createServer()
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen({ host, port, exclusive: true }, resolve)
    })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return 0
    throw error
  }
  await new Promise((resolve) => server.close(resolve))
  return port
}
