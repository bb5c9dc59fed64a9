import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { logVerbosity, setLogVerbosity } from '@grpc/grpc-js'
import { startEventStore } from './server.ts'
import { describeStartFailure } from './start-failure.ts'

/**
 * Runs the event store as a process. It outlives its parent, and ends on SIGTERM after everything is written.
 */
async function main(): Promise<void> {
  // The reader of stdout may end before this process.
  process.stdout.on('error', () => undefined)
  process.stderr.on('error', () => undefined)
  // The terminal of the parent may close, too.
  process.on('SIGHUP', () => undefined)
  // Files are accessible only to this user.
  process.umask(0o077)
  // Errors are reported once, below.
  setLogVerbosity(logVerbosity.NONE)

  const { directory, port } = parseArguments(process.argv.slice(2))
  const store = await startEventStore({ directory, port })
  const endpoint = { url: store.url, pid: process.pid }
  try {
    writeEndpoint(directory, endpoint)
  } catch (error) {
    // Without the file no client would find it, and it would block the directory for the next one.
    await store.close()
    throw error
  }

  const stop = (): void => {
    removeEndpoint(directory)
    void store.close().then(() => process.exit(0))
  }
  process.once('SIGTERM', stop).once('SIGINT', stop)
  process.stdout.write(`${JSON.stringify({ ready: true, ...endpoint })}\n`)
}

/** Parses the arguments. Without a port it listens on a socket, as in production. */
function parseArguments(args: string[]): { directory: string; port: number | undefined } {
  const { values } = parseArgs({
    args,
    options: { directory: { type: 'string' }, port: { type: 'string' } },
  })
  if (!values.directory) throw new Error('--directory is missing. Set it to the directory for the events.')
  if (values.port === undefined) return { directory: values.directory, port: undefined }
  const port = Number(values.port)
  if (!/^\d{1,5}$/.test(values.port) || port > 65_535) {
    throw new Error(`--port ${values.port} is not a port. Use a number up to 65535, or 0 for any free port.`)
  }
  return { directory: values.directory, port }
}

/** The address of a running store. After a crash the file remains, so readers check the process. */
type Endpoint = {
  url: string
  pid: number
}

/** Writes the file atomically. */
function writeEndpoint(directory: string, endpoint: Endpoint): void {
  const unfinished = join(directory, `.endpoint.${endpoint.pid}.json`)
  writeFileSync(unfinished, JSON.stringify(endpoint), { mode: 0o600 })
  renameSync(unfinished, endpointFile(directory))
}

function removeEndpoint(directory: string): void {
  rmSync(endpointFile(directory), { force: true })
}

function endpointFile(directory: string): string {
  return join(directory, 'endpoint.json')
}

try {
  await main()
} catch (error) {
  const { message, exitCode } = describeStartFailure(error)
  process.stderr.write(`${message}\n`)
  process.exitCode = exitCode
}
