import { parseArgs } from 'node:util'
import { logVerbosity, setLogVerbosity } from '@grpc/grpc-js'
import { removeEndpoint, writeEndpoint } from './endpoint-file.ts'
import { startEventStore } from './server.ts'
import { describeStartFailure } from './start-failure.ts'

/** The event store as a process. It outlives its parent, and ends on SIGTERM when everything is written. */
async function main(): Promise<void> {
  // The reader of stdout may be gone long before this process is.
  process.stdout.on('error', () => undefined)
  process.stderr.on('error', () => undefined)
  // Nor does the terminal matter that the parent was started from.
  process.on('SIGHUP', () => undefined)
  // What is wrong is said once, below.
  setLogVerbosity(logVerbosity.NONE)

  const { directory, port } = parseArguments(process.argv.slice(2))
  const store = await startEventStore({ directory, port })
  const endpoint = { url: store.url, port: store.port, pid: process.pid }
  writeEndpoint(directory, endpoint)

  const stop = (): void => {
    removeEndpoint(directory)
    void store.close().then(() => process.exit(0))
  }
  process.once('SIGTERM', stop).once('SIGINT', stop)
  process.stdout.write(`${JSON.stringify({ ready: true, ...endpoint })}\n`)
}

function parseArguments(args: string[]): { directory: string; port: number } {
  const { values } = parseArgs({
    args,
    options: { directory: { type: 'string' }, port: { type: 'string', default: '0' } },
  })
  const port = Number(values.port)
  if (!values.directory) throw new Error('--directory is missing: say where the events are to be kept.')
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new Error(`--port ${values.port} is no port: give a number up to 65535, or 0 for any free one.`)
  }
  return { directory: values.directory, port }
}

try {
  await main()
} catch (error) {
  const { message, exitCode } = describeStartFailure(error)
  process.stderr.write(`${message}\n`)
  process.exitCode = exitCode
}
