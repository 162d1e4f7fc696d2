import { runnerMain } from './runner/main.ts'

// The program of a runner on another machine, which the service brings there.
process.exit(await runnerMain(process.argv.slice(2)))
