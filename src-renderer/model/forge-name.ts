import { platformOfHost, trackerInfos, type Platform } from '../../src-shared/contract/trackers.ts'
import { hostOf } from './web-address.ts'

/**
 * Returns the name of a forge for a button: `GitHub`. Where the platform’s label names several products, as for those
 * that everyone runs themselves, it is the host of `url`. Without a known platform, the host tells it.
 */
export function forgeName(platform: Platform | null, url: string): string {
  const { host, hostname } = hostOf(url)
  const { label } = trackerInfos[platform ?? platformOfHost(hostname)]
  return label.includes(' or ') && host !== '' ? host : label
}
