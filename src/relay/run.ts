import type { Running } from '../bare-http/server.ts'
import { lockDirectory } from '../files/directory-lock.ts'
import { type Clocks, ownClocks } from './clock.ts'
import type { RelayProgram } from './http/program.ts'
import { serveRelay } from './http/server.ts'
import { openKey } from './key.ts'
import { openRelay } from './relay.ts'
import { createRenewing } from './renewal.ts'
import { openDatabase } from './store/database.ts'

const tickMs = 1000
const renewalMs = 60_000

type RunningRelay = Running & { program: RelayProgram }

/**
 * Runs the relay of a directory: locks it, listens, and renews.
 * @param onError gets every failure that is not a caller's; one that goes on comes once
 * @throws DirectoryInUse, KeyUnusable, AnswerUnusable, StoreFailed
 */
export async function runRelay(
  directory: string,
  at: { host: string; port: number },
  onError: (error: unknown) => void,
  clocks: Clocks = ownClocks,
): Promise<RunningRelay> {
  const unlock = lockDirectory(
    directory,
    'A relay runs once: stop the other one. A second relay needs an enrollment of its own.',
  )
  const database = openDatabase(directory)
  try {
    const key = openKey(directory)
    const relay = openRelay(database, clocks)
    const program = { relay, key, database, onError }
    const running = await serveRelay(program, at)
    const timers = startTimers(program)
    return {
      program,
      port: running.port,
      async close() {
        for (const timer of timers) clearInterval(timer)
        await running.close()
        database.close()
        unlock()
      },
    }
  } catch (error) {
    database.close()
    unlock()
    throw error
  }
}

function startTimers(program: RelayProgram): NodeJS.Timeout[] {
  const { check } = createRenewing(program)
  let isFailing = false
  const tick = () => {
    try {
      program.relay.tick()
      isFailing = false
    } catch (error) {
      if (!isFailing) program.onError(error)
      isFailing = true
    }
  }
  void check()
  return [setInterval(tick, tickMs), setInterval(() => void check(), renewalMs)]
}
