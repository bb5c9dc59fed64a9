import { surviveCutOutput } from '../terminal/output.ts'
import { runCommandLine } from './command-line.ts'

/** How long a command that failed may take to close its connections. */
const longestCloseMs = 15_000

surviveCutOutput()
await runCommandLine(process.argv.slice(2))
// A connection that cannot be closed must not keep the process alive: whatever supervises it waits for its end.
if (process.exitCode) setTimeout(() => process.exit(), longestCloseMs).unref()
