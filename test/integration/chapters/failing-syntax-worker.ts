import { parentPort } from 'node:worker_threads'
import { readSyntax } from '../../../src-main/chapters/syntax/read-syntax.ts'
import type { SyntaxRequest } from '../../../src-main/chapters/rules/syntax.ts'

/** The worker of the program, but for files whose names say how it fails. */
parentPort?.on('message', (request: SyntaxRequest) => {
  if (request.path.startsWith('hang')) for (;;);
  if (request.path.startsWith('crash')) throw new Error('crashed')
  void readSyntax(request).then((hunks) => parentPort?.postMessage(hunks))
})
