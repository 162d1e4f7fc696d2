/// <reference types="node-pty" />

// The package describes itself by its own name, and not by the one that it is installed under.
declare module 'node-pty' {
  export * from '@lydell/node-pty'
}
