import type { Ground } from '../core/ground.ts'
import type { AgentTokens } from '../ports/agent-tokens.ts'
import type { AttachmentFiles } from '../ports/attachment-files.ts'

/** The services that start and end runs. */
export interface RunGround extends Ground {
  readonly agentTokens: AgentTokens
  readonly attachmentFiles: AttachmentFiles
  /** From this call on, the values of these variables are redacted wherever text is written or sent. */
  readonly rememberSecrets: (env: Readonly<Record<string, string>>) => void
  /** Scheme, host and port of the HTTP API; null while it does not listen. */
  readonly apiUrl: () => string | null
}
