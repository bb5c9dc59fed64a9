import { streamName } from '../../src/domain/streams.ts'
import type { Execute } from '../../src/ledger/execute.ts'
import type { AllPorts } from '../../src/ports.ts'

/** What ends a process. */
export class Killed extends Error {}

/**
 * Ports of a process that dies before or after its nth write, to the log or of people to the vault: nothing that it does later has an
 * effect.
 */
export function mortal(ports: AllPorts, lives: number, when: 'before' | 'after'): AllPorts {
  let writes = 0
  const write = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    if (++writes > lives || (writes === lives && when === 'before')) throw new Killed(what)
    const done = await work()
    if (writes >= lives) throw new Killed(what)
    return done
  }
  const execute: Execute = (...args) =>
    write(streamName(args[0].category, args[1]), () => ports.execute(...args))
  const subjects: AllPorts['subjects'] = {
    ...ports.subjects,
    sealPeople: (...args) => write('people', () => ports.subjects.sealPeople(...args)),
  }
  return { ...ports, execute, subjects }
}
