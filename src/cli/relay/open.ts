import { writeFileSync } from 'node:fs'
import { AnswerUnusable } from '../../relay/answer.ts'
import { createRelayClock, ownClocks, type RelayClock } from '../../relay/clock.ts'
import { KeyUnusable, openKey, type RelayKey } from '../../relay/key.ts'
import { VendorRefused, VendorUnreachable } from '../../relay/online.ts'
import { RequestRefused } from '../../relay/requests.ts'
import { type Database, hasFile, openDatabase, StoreFailed } from '../../relay/store/database.ts'
import { type Enrollment, readValue } from '../../relay/store/state.ts'
import { CommandMisused, CommandRefused, CommandUnavailable } from '../../terminal/exit-codes.ts'

export type OpenedRelay = { database: Database; key: RelayKey; clock: RelayClock; enrollment: Enrollment }

/** Runs work on the files of a relay, which may be served meanwhile. @throws CommandMisused, CommandRefused, CommandUnavailable */
export function withRelay<Result>(
  directory: string,
  work: (relay: OpenedRelay) => Result | Promise<Result>,
): Promise<Result> {
  return inWords(async () => {
    if (!hasFile(directory)) throw noRelayIn(directory)
    const database = openDatabase(directory)
    try {
      const key = openKey(directory)
      const { time, enrollment } = database.read((file) => ({
        time: readValue(file, 'time'),
        enrollment: readValue(file, 'enrollment'),
      }))
      if (!enrollment) throw noRelayIn(directory)
      return await work({ database, key, clock: createRelayClock(ownClocks, time), enrollment })
    } finally {
      database.close()
    }
  })
}

/** There is no relay in this directory. */
export const noRelayIn = (directory: string): CommandMisused =>
  new CommandMisused(`No relay is enrolled in ${directory}. Enroll it: keyledger relay enroll.`)

/** Says failures of a relay as the command line does. @throws CommandRefused, CommandUnavailable, CommandMisused */
export async function inWords<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (
      error instanceof AnswerUnusable ||
      error instanceof KeyUnusable ||
      error instanceof RequestRefused ||
      error instanceof VendorRefused
    )
      throw new CommandRefused(error.message)
    if (error instanceof StoreFailed || error instanceof VendorUnreachable)
      throw new CommandUnavailable(error.message)
    // A directory that may not be written, or a port that is taken.
    if (error instanceof Error && 'syscall' in error) throw new CommandMisused(`${error.message}.`)
    throw error
  }
}

/** Writes a text to a file, or to stdout. @throws CommandMisused */
export function writeOut(text: string, out: string | undefined): void {
  if (out === undefined) {
    process.stdout.write(text)
    return
  }
  try {
    writeFileSync(out, text)
  } catch (error) {
    throw new CommandMisused(`Cannot write ${out}: ${error instanceof Error ? error.message : String(error)}`)
  }
}
