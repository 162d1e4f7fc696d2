import { registerHooks } from 'node:module'

// node --import register.ts dist/main/electron.js: an import of `electron` gets the stand-in.
const standin = new URL('electron.ts', import.meta.url).href
Object.defineProperty(process.versions, 'electron', { value: 'stand-in' })
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'electron' ? { url: standin, shortCircuit: true } : next(specifier, context),
})
