import { webAddress } from '../../model/web-address.ts'

/** Opens a page of another site in the browser, as a press on its link does. */
export function openPage(url: string): void {
  const address = webAddress(url)
  if (address === null) return
  const link = document.createElement('a')
  link.href = address
  link.target = '_blank'
  link.rel = 'noopener noreferrer'
  link.click()
}
