import closeWithGrace from 'close-with-grace'
import { type Command, InvalidArgumentError } from 'commander'
import type { Logger } from 'pino'
import { type Config, parseConfig } from '../../config.ts'
import { greet } from '../first-start.ts'
import { keepHeapSmall } from '../heap.ts'
import { createLog } from '../log.ts'
import { type Role, roles } from '../roles.ts'
import type { RunningServer } from '../server.ts'
import { openStores } from '../stores.ts'

/** How long running requests may take to end after Ctrl-C. */
const drainMs = 15_000

export function serveCommand(program: Command): void {
  program
    .command('serve')
    .description('Run the ledger until it is stopped')
    .option('--roles <list>', `comma-separated, of ${roles.join(', ')}`, parseRoles, [...roles])
    .action(async (options: { roles: Role[] }) => serve(options.roles))
}

function parseRoles(list: string): Role[] {
  return list.split(',').map((name) => {
    const role = roles.find((known) => known === name.trim())
    if (!role) throw new InvalidArgumentError(`${name} is no role; there are ${roles.join(', ')}`)
    return role
  })
}

async function serve(asked: Role[]): Promise<void> {
  keepHeapSmall()
  const config = parseConfig(process.env)
  const log = createLog(config.logLevel, { buffered: true })
  const starting = start(config, log, asked)
  // From the first moment on: whoever stops a start half-way also wants the embedded parts to end.
  const grace = closeWithGrace({ delay: drainMs, logger: false }, async ({ err, signal }) => {
    if (err) log.fatal({ err }, 'process.failed')
    log.info({ signal }, 'Stopping: running requests are finished first')
    const stop = await starting.catch(() => undefined)
    await stop?.()
    log.info('Stopped')
    log.flush()
  })
  await starting.catch((error: unknown) => {
    grace.uninstall()
    throw error
  })
}

/** @returns how to stop it */
async function start(config: Config, log: Logger, asked: Role[]): Promise<() => Promise<void>> {
  // Only here: all that HTTP needs takes longer to load than most other commands take to run.
  const { startServer } = await import('../server.ts')
  const stores = await openStores(config, log, true)
  let server: RunningServer | undefined
  const stop = async () => {
    await server?.stop()
    await stores.close()
  }
  try {
    server = await startServer(config, stores, log, asked)
    if (server.address !== undefined) {
      const baseUrl = config.baseUrl ?? `http://localhost:${new URL(server.address).port}`
      await greet(config, stores, baseUrl, printed)
    }
    log.info({ address: server.address, roles: asked, data_directory: config.dataDirectory }, 'Ready')
    return stop
  } catch (error) {
    await stop()
    throw error
  }
}

function printed(text: string): Promise<void> {
  return new Promise((resolve) => process.stdout.write(text, () => resolve()))
}
