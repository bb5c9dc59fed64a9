import { LocalPostgresError } from '../postgres/error.ts'
import { openDataDirectory } from './data-directory.ts'
import { LocalStackError } from './error.ts'
import { Membership } from './membership.ts'
import { eventStorePart, type Part, postgresPart } from './parts.ts'
import { supervise, type Watched } from './supervisor.ts'

export interface LocalStackOptions {
  /** Made when absent. */
  readonly dataDirectory: string
  /** Which parts this process uses. */
  readonly parts: { readonly postgres: boolean; readonly eventStore: boolean }
  /** Told in a sentence what takes a while or has been mended. */
  readonly log: (message: string) => void
  /** Whether to watch the parts and start a dead one again; for processes that live long. */
  readonly supervise?: boolean
  /** Another program than the event store, for tests. */
  readonly eventStoreProgram?: string
}

export interface LocalStack {
  /** The address of Postgres for `pg`, when it was asked for. */
  readonly databaseUrl?: string
  /** The same for migrations, which run under a role of their own. */
  readonly migrationUrl?: string
  /** The address of the event store for `@eventstore/db-client`, when it was asked for. */
  readonly eventstoreUrl?: string
  /** Ends this process's use of the parts; the last one to leave stops them. To be called after draining. */
  leave(): Promise<void>
}

/**
 * Uses the parts of a data directory together with any number of other processes: the first one starts them,
 * the others attach, and the last one to leave stops them. A process that is killed has left; parts that
 * nobody stopped, since all were killed, are adopted by the next one to join.
 *
 * @throws LocalStackError when the parts cannot be used; the message says what to mend
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

function openMembership(directory: string): Membership {
  try {
    return new Membership(directory)
  } catch (error) {
    throw new LocalStackError(
      `The locks in ${directory} cannot be opened: ${(error as Error).message}. Make the files in it writable ` +
        `for this user, or remove them while no keyledger process runs.`,
      { cause: error },
    )
  }
}

/** Waits for all, so that none is still starting when another one's failure is reported. */
async function startAll(parts: Part[]): Promise<Watched[]> {
  const started = await Promise.allSettled(parts.map(async (part) => ({ part, running: await part.start() })))
  return started.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason
    return outcome.value
  })
}

/** Parts that this process never asked for are stopped too: whoever started them has gone. */
async function leave(membership: Membership, parts: Part[]): Promise<void> {
  membership.leave()
  if (!membership.isEmpty()) return
  await Promise.all(parts.map(async (part) => (await part.find())?.stop()))
}
