import { inject, type InjectionKey } from 'vue'
import type { Client } from '../../../src-shared/client/create-client.ts'
import type { RendererConnection } from '../../api/client.ts'

/** The injection key under which the app provides its connection. */
export const connectionKey: InjectionKey<RendererConnection> = Symbol('connection')

/** Returns the connection that `main.ts` provided. Throws without one. */
export function useConnection(): RendererConnection {
  const connection = inject(connectionKey)
  if (!connection) throw new Error('The app provides no connection to the service.')
  return connection
}

/** Returns the typed client of every operation. For stores, and for transcripts and logs, which no store holds. */
export function useClient(): Client {
  return useConnection().client
}
