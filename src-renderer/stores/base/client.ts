import { inject, type InjectionKey } from 'vue'
import type { Client } from '../../../src-shared/client/create-client.ts'
import type { RendererConnection } from '../../api/client.ts'

/** The app provides its connection here; every store takes it from here. */
export const connectionKey: InjectionKey<RendererConnection> = Symbol('connection')

/** The connection that `main.ts` provided. */
export function useConnection(): RendererConnection {
  const connection = inject(connectionKey)
  if (!connection) throw new Error('The app provides no connection to the service.')
  return connection
}

/** The typed client of every operation. For stores, and for transcripts and logs that no store keeps. */
export function useClient(): Client {
  return useConnection().client
}
