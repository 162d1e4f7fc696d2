import type { SshConfig } from '../../../../src-shared/contract/runners.ts'
import { numberOf } from './draft-values.ts'

/** The configuration of a machine reached by SSH while it is edited. */
export interface SshDraft {
  host: string
  port: string
  sshConfig: string
  folder: string
}

/** Returns the draft of a configuration; of a new one without it. */
export const sshDraft = (config?: SshConfig): SshDraft => ({
  host: config?.host ?? '',
  port: String(config?.port ?? ''),
  sshConfig: config?.ssh_config ?? '',
  folder: config?.folder ?? '',
})

/** Returns what is still missing, or null. */
export function missingOfSsh({ host, port, sshConfig, folder }: SshDraft): string | null {
  if (host.trim() === '') return 'Name the host'
  if (!/^[^-\s]\S*$/.test(host.trim())) return 'A host has no spaces, and no “-” in front'
  const number = numberOf(port)
  if (number !== undefined && !(Number.isInteger(number) && number >= 1 && number <= 65_535))
    return 'Use a port from 1 to 65535'
  if (sshConfig.trim() !== '' && !sshConfig.trim().startsWith('/')) return 'Use an absolute path for the configuration'
  return /^[-~]/.test(folder.trim()) ? 'Use an absolute path for the folder, or one below the home there' : null
}

/** Returns the configuration of a draft, without empty fields. */
export function sshConfig({ host, port, sshConfig: file, folder }: SshDraft): SshConfig {
  const number = numberOf(port)
  return {
    host: host.trim(),
    ...(number !== undefined && { port: number }),
    ...(file.trim() !== '' && { ssh_config: file.trim() }),
    ...(folder.trim() !== '' && { folder: folder.trim() }),
  }
}
