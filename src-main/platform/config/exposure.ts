import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { createSecureContext } from 'node:tls'
import { ConfigError, type Setting } from './config-error.ts'

/** Parses host names, separated by commas. */
export function hostNames(setting: Setting | null): readonly string[] {
  return listOf(setting, (item) => /^[0-9A-Za-z]([0-9A-Za-z.-]{0,251}[0-9A-Za-z])?$/.test(item), 'host names')
}

/** Parses addresses or networks (`10.0.0.0/8`), separated by commas. */
export function proxyNetworks(setting: Setting | null): readonly string[] {
  return listOf(setting, isNetwork, 'addresses or networks of your proxies, such as 127.0.0.1 or 10.0.0.0/8')
}

function listOf(setting: Setting | null, fits: (item: string) => boolean, what: string): readonly string[] {
  if (setting === null) return []
  const items = setting.value.split(',').map((item) => item.trim())
  if (items.every(fits)) return items
  throw new ConfigError(setting.name, setting.value, `give ${what}, separated by commas.`)
}

function isNetwork(item: string): boolean {
  const [address = '', bits, ...more] = item.split('/')
  const version = isIP(address)
  if (version === 0 || more.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
}

/** Reads the certificate chain and its key as PEM texts; null if neither is given. */
export function readTls(cert: Setting | null, key: Setting | null): { cert: string; key: string } | null {
  if (cert === null && key === null) return null
  if (cert === null || key === null) {
    const { name, value } = (cert ?? key) as Setting
    throw new ConfigError(name, value, 'give both, SVC_TLS_CERT and SVC_TLS_KEY.')
  }
  const pem = { cert: contentOf(cert), key: contentOf(key) }
  try {
    createSecureContext(pem)
  } catch (error) {
    const wanted = 'give a PEM certificate and the PEM key that belongs to it, without a passphrase.'
    throw new ConfigError(cert.name, cert.value, wanted, { cause: error })
  }
  return pem
}

function contentOf({ name, value }: Setting): string {
  try {
    return readFileSync(value, 'utf8')
  } catch (error) {
    throw new ConfigError(name, value, 'the file cannot be read.', { cause: error })
  }
}
