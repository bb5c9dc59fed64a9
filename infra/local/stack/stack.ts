import { LocalPostgresError, LocalStackError } from '../errors.ts'
import { openDataDirectory } from './data-directory.ts'
import { type Membership, openMembership } from './membership.ts'
import { eventStorePart, type Part, postgresPart } from './parts.ts'
import { supervise, type Watched } from './supervisor.ts'

export type LocalStackOptions = {
  /** Created when missing. */
  readonly dataDirectory: string
  /** The parts that this process uses. */
  readonly parts: { readonly postgres: boolean; readonly eventStore: boolean }
  /** Called with a sentence about each slow step or repair. */
  readonly log: (message: string) => void
  /** Whether to restart parts that end unexpectedly; for long-running processes. */
  readonly supervise?: boolean
  /** A replacement for the event store program, for tests. */
  readonly eventStoreProgram?: string
}

export type LocalStack = {
  /** The URL of Postgres for `pg`, if used. */
  readonly databaseUrl?: string
  /** The same for migrations, which have their own role. */
  readonly migrationUrl?: string
  /** The URL of the event store for `@eventstore/db-client`, if used. */
  readonly eventstoreUrl?: string
  /** Ends this process's use of the parts; the last process to leave stops them. Call it after draining. */
  leave(): Promise<void>
}

/**
 * Shares the parts of a data directory with other processes: the first one starts them, the others connect, and
 * the last one to leave stops them. A killed process counts as having left. If all were killed, the next one to
 * join adopts the running parts.
 *
 * @throws LocalStackError when the parts cannot be used; the message says how to fix it
 */
export async function joinLocalStack(options: LocalStackOptions): Promise<LocalStack> {
  const { log, parts } = options
  const directories = openDataDirectory(options.dataDirectory, {
    holdsData: parts.postgres || parts.eventStore,
    log,
  })
  const postgres = postgresPart(directories, log)
  const eventStore = eventStorePart(directories, options.eventStoreProgram)
  const membership = openMembership(directories.run)
  const decide = <Result>(work: () => Promise<Result>) =>
    membership.decide(work, () => log('Waiting for another keyledger process that is starting or stopping'))

  const wanted = [parts.postgres && postgres, parts.eventStore && eventStore]
  const watched = await decide(async () => {
    membership.enter()
    try {
      return await startAll(wanted.filter((part) => part !== false))
    } catch (error) {
      await leave(membership, [postgres, eventStore])
      throw error
    }
  }).catch((error: unknown) => {
    membership.close()
    throw error instanceof LocalPostgresError ? new LocalStackError(error.message, { cause: error }) : error
  })

  const ending = new AbortController()
  const supervision = options.supervise ? supervise(watched, decide, log, ending.signal) : undefined
  let left: Promise<void> | undefined
  const running = (part: Part) => watched.find((entry) => entry.part === part)?.running
  const { url: databaseUrl, migrationUrl } = running(postgres) ?? {}
  const { url: eventstoreUrl } = running(eventStore) ?? {}
  return {
    ...(databaseUrl !== undefined && { databaseUrl }),
    ...(migrationUrl !== undefined && { migrationUrl }),
    ...(eventstoreUrl !== undefined && { eventstoreUrl }),
    leave() {
      left ??= (async () => {
        ending.abort()
        await supervision
        await decide(() => leave(membership, [postgres, eventStore]))
        membership.close()
      })()
      return left
    },
  }
}

/** Waits for all parts, so that none is still starting when a failure is reported. */
async function startAll(parts: Part[]): Promise<Watched[]> {
  const started = await Promise.allSettled(parts.map(async (part) => ({ part, running: await part.start() })))
  return started.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason
    return outcome.value
  })
}

/** Also stops parts that this process does not use, because the process that started them has ended. */
async function leave(membership: Membership, parts: Part[]): Promise<void> {
  membership.leave()
  if (!membership.isEmpty()) return
  await Promise.all(parts.map(async (part) => (await part.find())?.stop()))
}
