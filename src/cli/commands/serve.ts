import { type Command, InvalidArgumentError } from 'commander'
import { openDataDirectory } from '../../../infra/local/stack/data-directory.ts'
import { keepHeapSmall } from '../../app/heap.ts'
import { createLog } from '../../app/log.ts'
import { type Role, roles } from '../../app/roles.ts'
import { withRealPort } from '../../app/start/own-address.ts'
import { maxWorkers, parseConfig } from '../../config.ts'
import { wholeNumberOf } from '../../numbers.ts'

export function serveCommand(program: Command): void {
  program
    .command('serve')
    .description('Run the server')
    .option('--roles <list>', `comma-separated, of ${roles.join(', ')}`, parseRoles, [...roles])
    .option(
      '--workers <number>',
      'HTTP processes (default: one per core, at most 8); 1 runs everything in one process',
      (text) => wholeNumberOf('--workers', text, 1, maxWorkers),
    )
    .action(async (options: { roles: Role[]; workers?: number }) => begin(options.roles, options.workers))
}

function parseRoles(list: string): Role[] {
  return list.split(',').map((name) => {
    const role = roles.find((known) => known === name.trim())
    if (!role) throw new InvalidArgumentError(`${name} is not a role; choose from ${roles.join(', ')}`)
    return role
  })
}

/**
 * Finds what would fail later, before a store is started or changed. Loading the server takes longer than a person waits without a
 * word, so the first line is printed before.
 */
async function begin(ownRoles: Role[], workers: number | undefined): Promise<void> {
  keepHeapSmall()
  const given = parseConfig(process.env)
  const log = createLog(given.logLevel, { buffered: true })
  log.info({ roles: ownRoles, data_directory: given.dataDirectory }, 'Starting')
  log.flush()
  const config = ownRoles.includes('api') ? await withRealPort(given) : given
  openDataDirectory(config.dataDirectory, {
    holdsData: config.databaseUrl === undefined || config.eventstoreUrl === undefined,
    log: (message) => log.info(message),
  })
  const { serve } = await import('../serving.ts')
  await serve(config, log, ownRoles, workers)
}
