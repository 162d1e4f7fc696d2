/** `--import`ed into a process: shifts its clock by `COPSE_TEST_CLOCK_OFFSET_MS` milliseconds. */
const offset = Number(process.env['COPSE_TEST_CLOCK_OFFSET_MS'] ?? 0)
const { now } = Date
Date.now = () => now() + offset
