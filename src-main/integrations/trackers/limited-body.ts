import { TrackerError } from '../../ports/issue-trackers.ts'

/** Reads an answer whole, but no more of it than `most` bytes. `onHeard` is called with every piece of it. */
export async function readLimited(response: Response, most: number, onHeard: () => void): Promise<string> {
  const told = Number(response.headers.get('content-length') ?? 0)
  if (told > most) {
    await response.body?.cancel()
    throw tooLarge(most)
  }
  const chunks: Uint8Array[] = []
  let size = 0
  if (response.body) {
    // Leaving the loop early cancels the stream, and with it the connection.
    for await (const chunk of response.body) {
      onHeard()
      size += chunk.byteLength
      if (size > most) throw tooLarge(most)
      chunks.push(chunk)
    }
  }
  return Buffer.concat(chunks).toString('utf8')
}

function tooLarge(most: number): TrackerError {
  return new TrackerError(
    'too_large',
    `The tracker answered with more than ${Math.round(most / 1_048_576)} MB for one page.`,
  )
}
