import { type Command, InvalidArgumentError } from 'commander'
import { openDataDirectory } from '../../../infra/local/stack/data-directory.ts'
import { limitYoungGeneration } from '../../app/heap.ts'
import { createLog } from '../../app/log.ts'
import { type Role, roles } from '../../app/roles.ts'
import { withRealPort } from '../../app/start/own-address.ts'
import { ConfigError, maxWorkers, parseConfig } from '../../config.ts'
import { TenantName } from '../../domain/tenants/events.ts'
import { wholeNumberOf } from '../../numbers.ts'
import { parsed } from '../arguments.ts'
import { topCommand } from '../context.ts'

type ServeOptions = { roles: Role[]; workers?: number; name?: string }

export function serveCommand(program: Command): void {
  topCommand(program, 'serve')
    .option('--roles <list>', `comma-separated, of ${roles.join(', ')}`, parseRoles, [...roles])
    .option(
      '--workers <number>',
      'HTTP processes (default: one for two cores, at most 8); 1 runs everything in one process',
      (text) => wholeNumberOf('--workers', text, 1, maxWorkers),
    )
    .option('--name <name>', 'the name of the workspace that the first start creates', (text) =>
      parsed(TenantName, text, '--name'),
    )
    .action(begin)
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
async function begin({ roles: ownRoles, workers, name }: ServeOptions): Promise<void> {
  limitYoungGeneration()
  const given = parseConfig(process.env)
  if (name !== undefined && (given.eventstoreUrl !== undefined || !ownRoles.includes('api')))
    throw new ConfigError(
      '--name is for the first start of an embedded ledger, with the role api; elsewhere create a named workspace with: keyledger tenant create ID --name NAME',
    )
  const log = createLog(given.logLevel, { buffered: true })
  log.info({ roles: ownRoles, data_directory: given.dataDirectory }, 'Starting')
  log.flush()
  const config = ownRoles.includes('api') ? await withRealPort(given) : given
  openDataDirectory(config.dataDirectory, {
    holdsData: config.databaseUrl === undefined || config.eventstoreUrl === undefined,
    log: (message) => log.info(message),
  })
  const { serve } = await import('../serving.ts')
  await serve(config, log, ownRoles, workers, name)
}
