import { parentPort } from 'node:worker_threads'
import { readSyntax } from './chapters/syntax/read-syntax.ts'
import type { SyntaxRequest } from './chapters/rules/syntax.ts'

// An error ends the thread, because a parser that failed may have damaged its memory; its host starts another one.
parentPort?.on('message', (request: SyntaxRequest) => {
  void readSyntax(request).then((hunks) => parentPort?.postMessage(hunks))
})
