import { checkHtml, checkScriptUrl } from './trusted-html.ts'

interface TrustedTypes {
  createPolicy(
    name: 'default',
    rules: { createHTML: (html: string) => string; createScriptURL: (address: string) => string },
  ): unknown
}

// The content policy lets no string become HTML or a script’s address but through this, or through Vue’s own policy.
const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypes }
trustedTypes?.createPolicy('default', {
  createHTML: checkHtml,
  createScriptURL: (address) => checkScriptUrl(address, location),
})
