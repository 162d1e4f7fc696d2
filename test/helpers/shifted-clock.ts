/** `--import`ed into a process: its clock goes wrong by as many milliseconds as `COPSE_TEST_CLOCK_OFFSET_MS` says. */
const offset = Number(process.env['COPSE_TEST_CLOCK_OFFSET_MS'] ?? 0)
const { now } = Date
Date.now = () => now() + offset
