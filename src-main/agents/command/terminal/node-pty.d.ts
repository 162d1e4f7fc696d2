/// <reference types="node-pty" />

// The package declares its types under its own name, not the one it is installed under.
declare module 'node-pty' {
  export * from '@lydell/node-pty'
}
