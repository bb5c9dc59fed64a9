import closeWithGrace from 'close-with-grace'
import { DirectoryInUse } from '../../files/directory-lock.ts'
import { wholeNumberOf } from '../../numbers.ts'
import { runRelay } from '../../relay/run.ts'
import { hasFile } from '../../relay/store/database.ts'
import { CommandUnavailable } from '../../terminal/exit-codes.ts'
import { printToStderr } from '../../terminal/output.ts'
import { inWords, noRelayIn } from './open.ts'
import type { DataOption } from './options.ts'

/** How long running requests may take to finish after Ctrl-C. */
const drainMs = 5000

/** `keyledger relay serve` */
export async function serve({
  data,
  port,
  host,
}: DataOption & { port: string; host: string }): Promise<void> {
  const at = { host, port: wholeNumberOf('--port', port, 0, 65_535) }
  if (!hasFile(data)) throw noRelayIn(data)
  const onError = (error: unknown) => {
    printToStderr(`${new Date().toISOString()} ${wordsOf(error)}`)
  }
  const running = await inWords(() => runRelay(data, at, onError)).catch((error: unknown) => {
    throw error instanceof DirectoryInUse ? new CommandUnavailable(error.message) : error
  })
  closeWithGrace({ delay: drainMs, logger: false }, () => running.close())
  const { inUse, seats } = running.program.relay.use()
  process.stdout.write(
    `Relay: http://${host}:${String(running.port)} (${running.program.relay.standing().kind})\n` +
      `Seats: ${String(inUse)} of ${String(seats)} in use\n`,
  )
}

/** Failures that are expected say what is wrong in one line. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.constructor === Error || error.name !== 'Error'
    ? (error.stack ?? error.message)
    : error.message
}
